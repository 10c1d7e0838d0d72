// Keeps one plotly.js chart alive per Streamlit element and redraws it in place with Plotly.react.
//
// Streamlit calls the default export again, with the same parentElement, at every rerun and change of theme.
// The bytes are UTF-8 JSON: {plotly, alt, name, height, large, hero, config, figure: {data, layout}}; arrays inside the
// figure are plotly's own {dtype, bdata, shape}, which plotly.js decodes, and the colors "theme-ink" and "theme-paper" are the page's own.
// In class mode a picture is `large`, and the `hero`, the first of a page, fills the rest of the screen. On a narrow screen
// it makes itself as low as the open controls leave room for, and on a low one as the screen. On paper every picture is
// as wide as the paper.

const charts = new WeakMap(); // parentElement -> {plot, note, pending, frame, drawn, text, look, last, height, observer}

/** plotly.js, fetched once per page; the browser's cache keeps it for later ones (a content hash is in the address). */
function loadPlotly(path) {
  window.dpvizPlotly ??= fetchPlotly(path).catch((error) => {
    delete window.dpvizPlotly; // so that the next update tries again
    throw error;
  });
  return window.dpvizPlotly;
}

async function fetchPlotly(path, attempts = 3) {
  const script = document.createElement("script");
  // Relative to the page, as Streamlit's own scripts are: this follows a base path or a proxy's prefix.
  script.src = new URL(path, document.baseURI);
  const started = await new Promise((resolve) => {
    script.onload = () => resolve(true);
    script.onerror = () => resolve(false);
    document.head.append(script);
  });
  script.remove();
  if (started) return window.Plotly;
  if (attempts <= 1) throw new Error("plotly.js did not start");
  await new Promise((resolve) => setTimeout(resolve, 300));
  return fetchPlotly(path, attempts - 1);
}

const touch = () => window.matchMedia("(pointer: coarse)").matches;

function lookOf(element) {
  const style = getComputedStyle(element);
  return (name, otherwise) => style.getPropertyValue(`--st-${name}`).trim() || otherwise;
}

/** A plotly template made of Streamlit's colours and font; what the figure itself sets wins over it. */
function templateOf(element) {
  const get = lookOf(element);
  const text = get("text-color", "#31333f");
  const line = get("border-color", "#d5d6d9");
  const axis = {
    gridcolor: get("border-color-light", line),
    zerolinecolor: line,
    linecolor: line,
    tickcolor: line,
    automargin: false,
  };
  return {
    layout: {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text, family: get("font", "sans-serif"), size: 13 },
      title: { x: 0.02, font: { size: 15 } },
      colorway: get("chart-categorical-colors", "#0068c9,#ff8c42,#29b09d,#ff2b2b").split(","),
      xaxis: axis,
      yaxis: axis,
      hoverlabel: {
        bgcolor: get("secondary-background-color", "#f0f2f6"),
        bordercolor: line,
        font: { color: text },
      },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: text, activecolor: get("primary-color", text) },
      margin: { l: 56, r: 16, t: 40, b: 48 },
    },
  };
}

/** The text in lines of about so many characters, for plotly. */
function folded(text, width) {
  const lines = [""];
  for (const part of text.split(/(?<=[\s&?,])/)) {
    if (lines.at(-1) && lines.at(-1).length + part.length > width) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines.map((line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));
}

/** The picture's layout with a title above, what the page was set to and its address below, on its background. */
function withAbout(plot) {
  const background = lookOf(plot)("background-color", "#ffffff");
  const { t, b, l, h: inside } = plot._fullLayout._size; // with what the legend takes; the axes keep their size
  const width = Math.max(20, Math.floor((plot.clientWidth - l) / 8.8)); // letters of the title in a line
  const titled = plot.layout.title?.text; // a picture with a title of its own needs no other
  const title = titled ? [] : folded(plot.getAttribute("aria-label"), width);
  const about = (window.dpvizAbout ?? []).flatMap((line) => folded(line, Math.floor(width * 1.35)));
  const [above, below] = [titled ? 0 : 24 + 20 * title.length, 16 + 14 * about.length];
  const height = plot.clientHeight + above + below;
  const legend = plot.layout.legend;
  const note = {
    text: about.join("<br>"), showarrow: false, align: "left", font: { size: 10.5 },
    x: 0, xref: "paper", xanchor: "left", y: -(b + 4) / inside, yref: "paper", yanchor: "top",
  };
  const heading = {
    text: title.join("<br>"), showarrow: false, align: "left", font: { size: 15 },
    x: 0, xref: "paper", xanchor: "left", y: 1 + (t + 6) / inside, yref: "paper", yanchor: "bottom",
  };
  const layout = {
    ...plot.layout,
    paper_bgcolor: background,
    plot_bgcolor: background,
    margin: { ...plot.layout.margin, t: t + above, b: b + below },
    annotations: [...(plot.layout.annotations ?? []), ...(titled ? [] : [heading]), note],
    legend: legend?.yref === "container" ? { ...legend, y: below / height } : legend,
    font: { family: "sans-serif" }, // a saved file has none of the page's own fonts, in which it would be measured
    height,
  };
  return { layout, height };
}

// A phone has no room for large pictures, neither upright nor on its side.
const wide = window.matchMedia("(min-width: 641px) and (min-height: 501px), (min-width: 961px)");
const lying = window.matchMedia("(min-width: 481px) and (max-width: 960px) and (max-height: 500px)");
const PAPER = 700; // Pixels of a page of A4 between its margins, which the style sheet sets
const LEAST = 220; // Pixels of a hero on a screen that has no room for it
const LARGER = 1.7;
const SMALL = 11; // Pixels of the words in a low picture
const [AXIS, ROW] = [62, 19]; // Pixels of an axis with its name, and of an entry of a legend
const [TALLER, WORDS] = [1.2, 1.4]; // How much a picture grows, and what is written below it
const NARROW = 560; // Pixels of a picture that has no room for a legend beside the names of its lines

/** Where there is little room, or type is large, lines that have their names at their ends need no legend. */
function withoutLegend(layout) {
  layout.showlegend = false;
  layout.margin = { ...layout.margin, b: AXIS };
}

const isOpen = () => "dpvizPanel" in document.documentElement.dataset;

/** Pixels between the axis of a picture and its lower edge that only a legend takes. */
function legendRoom({ legend, showlegend, margin, meta }) {
  const below = legend && showlegend !== false && !meta?.named && (legend.y < 0 || legend.yref === "container");
  return below ? Math.max(0, (margin?.b ?? 0) - AXIS) : 0;
}

/** How high the picture is drawn: a hero has all the room that is left, before any scrolling or by the open controls. */
function heightOf(chart, { height, hero, large, figure }) {
  if (!hero) return height;
  if (isOpen() || lying.matches) {
    const below = isOpen() && !lying.matches ? [".st-key-controls"] : []; // on a low screen the panel stands beside
    const taken = [...below, ".dpviz-dock", "[data-testid=stHeader]"].map(
      (name) => document.querySelector(name)?.offsetHeight ?? 0, // a picture may be there before the controls are
    );
    const room = window.innerHeight - taken.reduce((sum, one) => sum + one);
    // A legend stands below what is in sight where it can be scrolled to.
    return Math.min(height, Math.max(LEAST, room) + (isOpen() ? 0 : legendRoom(figure.layout)));
  }
  if (!large || !wide.matches) return height;
  const main = document.querySelector("[data-testid=stMain]");
  const top = chart.plot.getBoundingClientRect().top + main.scrollTop;
  return Math.max(LEAST, Math.floor(window.innerHeight - top - 10));
}

/** Thick lines, large marks and large type, to be read from the back of a room; the picture was made `first` high. */
function enlarge(figure, template, narrow, first, height) {
  template.layout.font.size = 20;
  template.layout.title.font.size = 23;
  for (const trace of figure.data) {
    if (trace.line?.width) trace.line = { ...trace.line, width: trace.line.width * LARGER };
    if (typeof trace.marker?.size === "number") trace.marker = { ...trace.marker, size: trace.marker.size * LARGER };
    if (trace.error_y) trace.error_y = { ...trace.error_y, thickness: 3 };
    if (trace.textfont) trace.textfont = { ...trace.textfont, size: 16 };
  }
  const { margin, shapes, annotations, legend } = figure.layout;
  const [above, below] = [margin?.t ?? 40, margin?.b ?? 48];
  // The words of the axis above a legend are larger too: it stands as much lower as they are, in parts of the inside.
  const lower = (WORDS * (first / TALLER - above - below)) / (height - 1.2 * above - WORDS * below);
  if (legend) figure.layout.legend = { ...legend, y: legend.y < 0 ? lower * legend.y : legend.y, font: { size: 16 } };
  for (const shape of shapes ?? []) shape.line = { ...shape.line, width: (shape.line?.width ?? 1) * LARGER };
  for (const note of annotations ?? []) note.font = { ...note.font, size: narrow ? 13 : 18 };
  figure.layout.margin = {
    l: 1.4 * (margin?.l ?? 56), r: (narrow ? 1.2 : 1.7) * (margin?.r ?? 16),
    b: WORDS * below, t: 1.2 * above,
  };
  namesApart(figure.layout, height);
}

/** In a narrow picture each entry of a legend has a row of its own: it keeps clear of the toolbar, or of the axis. */
function inRows({ data, layout }, height) {
  const { legend, margin, showlegend } = layout;
  if (!legend || showlegend === false || legend.yref === "container") return;
  const rows = ROW * (1 + data.filter((trace) => trace.name && trace.showlegend !== false).length);
  if (legend.y > 1) layout.margin = { ...margin, t: (margin?.t ?? 40) + rows };
  if (legend.y >= 0) return;
  layout.margin = { ...margin, b: AXIS + rows };
  layout.legend = { ...legend, y: -(AXIS + 8) / (height - (margin?.t ?? 40) - AXIS - rows), tracegroupgap: 0 };
}

/** A picture that is lower than it was made: what was set in parts of its height keeps its distance in pixels. */
function lower({ data, layout }, first, height) {
  const { legend, margin, meta, yaxis } = layout;
  const around = (margin?.t ?? 40) + (margin?.b ?? 48);
  if (legend?.y < 0) layout.legend = { ...legend, y: (legend.y * (first - around)) / (height - around) };
  if (meta?.row && yaxis.range) { // the first rows, as many as have room: the others are there once it is higher
    const rows = Math.max(1, Math.floor((height - around) / meta.row));
    layout.yaxis = { ...yaxis, range: [Math.min(yaxis.range[0], rows - 0.5), yaxis.range[1]] };
    for (const trace of data) trace.cliponaxis = true;
  }
  for (const trace of data) if (trace.mode === "lines+text") trace.mode = "lines"; // their numbers would overlap
  namesApart(layout, height, SMALL);
}

/** Move names at the ends of lines apart: the picture is lower than the one that they were set for, or they are larger. */
function namesApart({ annotations, margin, yaxis }, height, most = 16) {
  const names = (annotations ?? []).filter(({ x, xref }) => xref === "x domain" && x > 1).sort((one, other) => one.y - other.y);
  if (names.length < 2 || !yaxis?.range) return;
  const inside = height - margin.t - margin.b;
  const lines = names.map(({ text }) => text.split("<br>").length);
  const size = Math.min(most, inside / (1.25 * lines.reduce((sum, one) => sum + one)));
  const line = (1.25 * size * (yaxis.range[1] - yaxis.range[0])) / inside;
  const gap = (place) => (line * (lines[place] + lines[place - 1])) / 2;
  names.forEach((name, place) => {
    name.font = { ...name.font, size };
    if (place) name.y = Math.max(name.y, names[place - 1].y + gap(place));
  });
  for (let [place, most] = [names.length - 1, yaxis.range[1]]; place >= 0; most -= place ? gap(place) : 0, place -= 1) {
    names[place].y = most = Math.min(names[place].y, most);
  }
}

/** A toolbar button that saves the picture as it is seen, with its title, its parameters and its address. */
function saveButton(Plotly, format, icon) {
  return {
    name: `save ${format}`,
    title: `Download as ${format.toUpperCase()}`,
    icon,
    click: (plot) => {
      const { layout, height } = withAbout(plot);
      Plotly.downloadImage(
        { data: plot.data, layout },
        { format, filename: plot.dataset.name, width: plot.clientWidth, height, scale: 2 },
      );
    },
  };
}

const ARRAYS = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array,
};

/** The values of a field of a trace: a list, or plotly's {dtype, bdata, shape}, whose rows become lists. */
function valuesOf(field) {
  if (field === undefined || field === null) return [];
  if (field.bdata === undefined) return field;
  const flat = new ARRAYS[field.dtype](Uint8Array.from(atob(field.bdata), (byte) => byte.charCodeAt(0)).buffer);
  const [rows, columns] = String(field.shape ?? flat.length).split(",").map(Number);
  return columns === undefined
    ? flat
    : Array.from({ length: rows }, (_, row) => flat.subarray(row * columns, (row + 1) * columns));
}

/**
 * The numbers of a picture, one point a line, every digit. A trace's meta, or else its name, says what it is; one that
 * has neither only points something out.
 */
function csvOf(plot) {
  const traces = plot.data.filter((trace) => (trace.meta ?? trace.name) && trace.hoverinfo !== "skip");
  const words = document.createElement("template");
  const cell = (value) => {
    if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
    words.innerHTML = value ?? ""; // names may hold tags
    const said = words.content.textContent;
    const text = /^\s*[=+\-@]/.test(said) && Number.isNaN(Number(said)) ? `'${said}` : said; // never a formula
    return /[",\n#]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const surfaces = traces.some((trace) => trace.z !== undefined);
  const barOf = (trace) => (trace.error_y?.array === undefined ? trace.error_x : trace.error_y);
  const bars = traces.some((trace) => barOf(trace)?.array !== undefined);
  const lines = [["series", "x", "y", ...(surfaces ? ["value"] : []), ...(bars ? ["low", "high"] : [])].join(",")];
  for (const trace of traces) {
    const [x, y] = [valuesOf(trace.x), valuesOf(trace.y)];
    const z = trace.z === undefined ? [] : valuesOf(trace.customdata ?? trace.z); // z is cut to the scale of colours
    const bar = barOf(trace);
    const up = valuesOf(bar?.array);
    const down = bar?.symmetric === false ? valuesOf(bar.arrayminus) : up;
    const add = (...values) => lines.push([trace.meta ?? trace.name ?? "", ...values].map(cell).join(","));
    const middle = bar === trace.error_y ? y : x;
    const ends = (place) => (up.length ? [middle[place] - down[place], middle[place] + up[place]] : ["", ""]);
    if (z.length) {
      z.forEach((row, i) => row.forEach((value, j) => add(x[j] ?? j, y[i] ?? i, value, ...(bars ? ["", ""] : []))));
    } else {
      y.forEach((value, place) => {
        if (Number.isNaN(value) || value === null) return; // a gap, or a line that is only there for the legend
        add(x[place] ?? place, value, ...(surfaces ? [""] : []), ...(bars ? ends(place) : []));
      });
    }
  }
  return lines.join("\n") + "\n";
}

/** A toolbar button that saves the numbers of the picture. */
function numbersButton() {
  return {
    name: "save csv",
    title: "Download the numbers as CSV",
    icon: {
      width: 24,
      height: 24,
      path: "M2 3h20v18H2zM4 8h16V5H4zM4 13h5v-3H4zM11 13h9v-3h-9zM4 19h5v-4H4zM11 19h9v-4h-9z",
    },
    click: (plot) => {
      const link = document.createElement("a");
      const name = `${plot.dataset.name}.csv`;
      const reading = (window.dpvizReading ?? "").replaceAll("FILE", name);
      const about = [plot.getAttribute("aria-label"), ...(window.dpvizAbout ?? []), reading];
      // The mark at the beginning has a spreadsheet read the file as UTF-8.
      const text = "\ufeff" + about.filter(Boolean).map((line) => `# ${line}\n`).join("") + csvOf(plot);
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
  };
}

/** The toolbar, made once: plotly.js builds a chart anew when its configuration holds other objects than before. */
function toolbar(Plotly) {
  window.dpvizToolbar ??= {
    displaylogo: false,
    displayModeBar: true,
    modeBarButtons: [
      [
        saveButton(Plotly, "png", Plotly.Icons.camera),
        saveButton(Plotly, "svg", Plotly.Icons.disk),
        numbersButton(),
        "resetScale2d",
      ],
    ],
  };
  return window.dpvizToolbar;
}

/** Draw a message, on a sheet of paper if it has so many pixels of width for it. */
function paint(chart, message, Plotly, paper) {
  const { large, config, figure } = message;
  const template = templateOf(chart.plot);
  const narrow = (paper ?? chart.plot.clientWidth) < NARROW;
  const big = large && wide.matches && !paper;
  const height = (chart.height = paper ? message.height : heightOf(chart, message));
  chart.plot.style.height = `${height}px`;
  const low = !big && height < message.height;
  const covered = low && isOpen() && !figure.layout.meta?.row && legendRoom(figure.layout) > 0;
  if (covered || (figure.layout.meta?.named && (narrow || large || low))) withoutLegend(figure.layout);
  else if (narrow) inRows(figure, height);
  if (low) lower(figure, message.height, height);
  if (big) enlarge(figure, template, narrow, message.height, height);
  return Plotly.react(
    chart.plot,
    figure.data,
    // A finger on a picture scrolls the page; only a mouse draws a zoom box.
    {
      uirevision: "keep", dragmode: touch() ? false : "zoom", ...figure.layout, height, template,
      ...(paper ? { autosize: false, width: paper } : { autosize: true }),
    },
    { ...toolbar(Plotly), ...config },
  );
}

/** Before a page is printed its pictures are drawn as wide as the paper, each its share of it, and afterwards as before.
 *
 * What stands one below the other on a telephone does so on the paper, which is wider: the style sheet sees to that.
 */
function onPaper(event) {
  const results = document.querySelector("[data-testid=stColumn]:has(.st-key-controls) + [data-testid=stColumn]");
  const all = (results ?? document.querySelector(".stMainBlockContainer")).clientWidth;
  const shown = [...document.querySelectorAll("[role=figure]")].map((plot) => charts.get(plot.parentElement));
  const widths = shown.map((chart) => chart && (PAPER * chart.plot.clientWidth) / all);
  shown.forEach((chart, place) => {
    const column = chart?.plot.closest("[data-testid=stColumn]");
    column?.toggleAttribute("data-dpviz-whole", event.type === "beforeprint" && column.clientWidth > 0.9 * all);
    if (!chart?.drawn || chart.pending || !chart.plot.clientWidth) return;
    paint(chart, read(chart), window.Plotly, event.type === "beforeprint" ? widths[place] : undefined);
  });
}

window.addEventListener("beforeprint", onPaper);
window.addEventListener("afterprint", onPaper);

async function draw(chart) {
  const message = chart.pending;
  const Plotly = await loadPlotly(message.plotly);
  if (chart.pending !== message || !chart.plot.isConnected) return; // overtaken, or the page has gone
  chart.pending = null;
  await paint(chart, message, Plotly);
  // The name says what there is to see; without this a screen reader goes on through every tick label.
  for (const svg of chart.plot.querySelectorAll(".main-svg")) svg.setAttribute("aria-hidden", "true");
  chart.drawn += 1;
  chart.plot.dataset.drawn = chart.drawn; // for tests
  chart.plot.dispatchEvent(new Event("dpviz-drawn", { bubbles: true })); // for what lies on top of it
}

/** Draw the newest message at the next frame: those that come faster than the browser paints are dropped. */
function schedule(chart) {
  chart.frame ??= requestAnimationFrame(async () => {
    try {
      while (chart.pending && chart.plot.isConnected) await draw(chart);
      chart.note.hidden = true;
    } catch (error) {
      chart.pending = null;
      chart.note.hidden = false;
      console.error(error);
    } finally {
      chart.frame = null;
    }
  });
}

/** A hero is drawn anew where the room for it has changed. */
function fit(chart) {
  if (!chart.last.hero || chart.pending || !chart.drawn || heightOf(chart, chart.last) === chart.height) return;
  chart.pending = read(chart);
  schedule(chart);
}

/** The message as it is drawn: the truth has the ink of the page, black by day and white by night, on its ground. */
function read(chart) {
  const get = lookOf(chart.plot);
  const [ink, paper] = [get("text-color", "#31333f"), get("background-color", "#ffffff")].map((one) => JSON.stringify(one));
  chart.last = JSON.parse(chart.text.replaceAll('"theme-ink"', ink).replaceAll('"theme-paper"', paper));
  return chart.last;
}

function mount(parentElement) {
  const plot = document.createElement("div");
  plot.setAttribute("role", "figure"); // not img, which may hold no buttons, and plotly's toolbar does
  plot.style.contain = "strict";
  const note = document.createElement("p");
  note.textContent = "This picture could not be drawn. Reload the page to try again.";
  note.hidden = true;
  parentElement.append(note, plot);
  const chart = { plot, note, pending: null, frame: null, drawn: 0, text: "", look: "", last: {}, height: 0 };
  let width = null;
  chart.observer = new ResizeObserver(() => {
    const before = width;
    width = plot.clientWidth;
    if (chart.drawn > 0 && width > 0 && width !== before) window.Plotly.Plots.resize(plot);
    fit(chart);
  });
  chart.observer.observe(plot);
  // What stands above a hero, beside it or further out, may grow and shrink.
  for (let block = parentElement; (block = block.parentElement?.closest("[data-testid=stVerticalBlock]")); ) {
    chart.observer.observe(block);
  }
  chart.refit = () => fit(chart);
  window.addEventListener("resize", chart.refit);
  document.addEventListener("dpviz-panel", chart.refit);
  charts.set(parentElement, chart);
  return chart;
}

function unmount(parentElement) {
  const chart = charts.get(parentElement);
  if (!chart || parentElement.isConnected) return; // Streamlit also "cleans up" a call that a newer one overtook
  charts.delete(parentElement);
  chart.observer.disconnect();
  window.removeEventListener("resize", chart.refit);
  document.removeEventListener("dpviz-panel", chart.refit);
  chart.pending = null;
  if (chart.drawn > 0) window.Plotly.purge(chart.plot);
  chart.plot.remove();
  chart.note.remove();
}

export default function showFigure({ data, parentElement }) {
  const chart = charts.get(parentElement) ?? mount(parentElement);
  const text = new TextDecoder().decode(data);
  const get = lookOf(parentElement);
  const look = ["text-color", "background-color", "primary-color", "font"].map((name) => get(name, "")).join();
  if (text !== chart.text || look !== chart.look) { // reruns send the same picture again and again
    chart.text = text;
    chart.look = look;
    chart.pending = read(chart);
    chart.plot.setAttribute("aria-label", chart.pending.alt);
    chart.plot.dataset.name = chart.pending.name;
    chart.plot.toggleAttribute("data-hero", Boolean(chart.pending.hero));
    chart.plot.style.height = `${heightOf(chart, chart.pending)}px`;
    schedule(chart);
  }
  return () => setTimeout(() => unmount(parentElement)); // after React has taken the element out
}
