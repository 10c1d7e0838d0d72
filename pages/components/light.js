// Lights rows, and one column's cell in each, in the tables and heatmaps of a page, which are not drawn again for it.
//
// The data: {name: {rows, column, bands, span}}. Tables have the name as data-light, and counts of rows and of the
// column, from 0; pictures have it as layout.meta.light, and the ends of each row and of the column in axis units.
// Without a column the rows alone are lit. Streamlit calls the default export again at every rerun.

const style = document.createElement("style");
let lit = {};
let owner = null; // the parentElement of the call that lights
let shown = "";

const LEAST = 18; // pixels that the frame of a row or of a cell is high and wide, however many there are
const YELLOW = "#FFE15A";

function lightTables() {
  style.textContent = Object.entries(lit)
    .map(([name, { rows, column }]) => {
      const places = rows.map((row) => `[data-light="${name}"] tbody tr:nth-child(${row + 1})`);
      const cells = column === null ? [] : places.map((row) => `${row} td:nth-of-type(${column + 1})`);
      return (
        `[data-light="${name}"] td {transition: background-color .3s}` +
        (places.length ? `${places} {outline: 2px solid currentColor; outline-offset: -2px}` : "") +
        (cells.length ? `${cells} {background: ${YELLOW} !important; color: #111; box-shadow: inset 0 0 0 3px #111}` : "")
      );
    })
    .join("\n");
}

/** Scroll a table that is cut off, not the page, until the last lit row and its cell are in sight. */
function scrollTables() {
  for (const [name, { rows, column }] of Object.entries(lit)) {
    for (const box of document.querySelectorAll(`[data-light="${name}"]`)) {
      const row = box.querySelector(`tbody tr:nth-child(${rows.at(-1) + 1})`);
      const cell = column === null ? null : row?.querySelectorAll("td")[column];
      if (!row) continue;
      const [frame, at, wide] = [box, row, cell ?? row].map((part) => part.getBoundingClientRect());
      if (at.top < frame.top || at.bottom > frame.bottom) box.scrollTop += at.top - frame.top - frame.height / 2;
      if (cell && (wide.left < frame.left || wide.right > frame.right)) box.scrollLeft += wide.left - frame.left - frame.width / 2;
    }
  }
}

function lightPicture(plot) {
  const place = lit[plot.layout?.meta?.light];
  let frame = plot.querySelector(":scope > .dpviz-light");
  if (!place) return frame?.remove();
  if (!frame) {
    frame = document.createElement("div");
    frame.className = "dpviz-light";
    frame.setAttribute("aria-hidden", "true");
    plot.append(frame);
  }
  const { xaxis, yaxis } = plot._fullLayout;
  put(frame, xaxis._offset, yaxis._offset, xaxis._length, yaxis._length);
  const parts = place.bands.flatMap((band) => {
    const [top, height] = ends(yaxis, band);
    const row = { kind: "row", at: [-4, top, xaxis._length + 8, height] };
    if (place.span === null) return [row];
    const [left, width] = ends(xaxis, place.span);
    return [row, { kind: "cell", at: [left, top, width, height] }];
  });
  while (frame.children.length > parts.length) frame.lastChild.remove();
  while (frame.children.length < parts.length) frame.append(document.createElement("div"));
  parts.forEach(({ kind, at }, index) => {
    frame.children[index].className = kind;
    put(frame.children[index], ...at);
  });
  return undefined;
}

/** Where a part of an axis begins and how long it is, in pixels. */
function ends(axis, [first, last]) {
  const [one, other] = [axis.l2p(first), axis.l2p(last)];
  const size = Math.max(Math.abs(other - one), LEAST);
  return [(one + other - size) / 2, size];
}

function put(element, left, top, width, height) {
  for (const [name, value] of Object.entries({ left, top, width, height })) element.style[name] = `${value}px`;
}

function watch(plot) {
  if (!plot.layout?.meta?.light) return;
  if (!plot.dpvizWatched) plot.on("plotly_afterplot", () => lightPicture(plot)); // as it is after a zoom
  plot.dpvizWatched = true;
  lightPicture(plot);
}

document.addEventListener("dpviz-drawn", (event) => watch(event.target));

function light(places) {
  lit = places;
  lightTables();
  document.querySelectorAll(".js-plotly-plot").forEach(watch);
}

export default function showLight({ data, parentElement }) {
  if (!style.isConnected) document.head.append(style);
  owner = parentElement;
  const text = JSON.stringify(data);
  light(data);
  if (text !== shown) scrollTables();
  shown = text;
  return () =>
    setTimeout(() => {
      if (owner !== parentElement || parentElement.isConnected) return; // Streamlit "cleans up" overtaken calls too
      owner = null;
      shown = "";
      light({});
    });
}
