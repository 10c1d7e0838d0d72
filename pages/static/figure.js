// A plotly.js chart that is redrawn in place, so that the reader's zoom survives.
//
// Streamlit calls the default export at every rerun and change of theme, with the same parentElement; while the script is
// being loaded not always in their order. The data are UTF-8 JSON: {time, plotly, alt, name, height, large, hero, figure:
// {data, layout}}, the time of the server in seconds, arrays as plotly's {dtype, bdata, shape}; the colour "theme-ink"
// stands for that of the page. A `large` figure is read from the back of a room, and fills the rest of the
// screen if it is the `hero` of a page.

const NARROW_PX = 560; // width of a figure below which its legend stands below it
const ROW_PX = 20; // height of an entry of its legend
const PHONE_PX = 640; // width of a screen that is too small for large figures
const MIN_HERO_PX = 320;
const CLOCK_STEP_S = 10; // a larger step back is one of the server's clock
const FONT_PX = 13;
const LARGER = { size: 1.5, width: 1.7, thickness: 1.7, l: 1.4, r: 1.4, t: 1.4, b: 1.4 }; // times, in a large figure,
const ENLARGED = /font$|^(line|marker|margin)$|^error_/; // inside of these
// Ticks as in words: "40 %", where plotly writes "40%"
const PERCENTAGES = Object.fromEntries(Array.from({ length: 101 }, (_, share) => [`${share}%`, `${share} %`]));
const charts = new WeakMap(); // parentElement -> {plot, note, observer, time, text, look, message, pending, frame, width, height, ranges, revision}
let loading = null; // the promise of plotly.js and of the toolbar

async function load(path) {
  for (let attempt = 0; attempt < 3 && !window.Plotly; attempt += 1) {
    const script = Object.assign(document.createElement("script"), { src: new URL(path, document.baseURI) });
    document.head.append(script);
    await new Promise((resolve) => {
      script.onload = resolve;
      script.onerror = () => setTimeout(resolve, 300);
    });
  }
  const toolbar = new URL(`toolbar.js${new URL(import.meta.url).search}`, import.meta.url); // of the same version
  return { Plotly: window.Plotly, config: (await import(toolbar)).toolbarOf(window.Plotly) };
}

function themeOf(element) {
  const style = getComputedStyle(element);
  const theme = (name, fallback) => style.getPropertyValue(`--st-${name}`).trim() || fallback;
  return { theme, ink: theme("text-color", "#1b2530") };
}

/** A plotly template of the page's colours and font; what a figure itself sets wins over it. */
function templateOf(element, size) {
  const { theme, ink: color } = themeOf(element);
  const line = theme("border-color", "#d5d6d9");
  const clear = "rgba(0,0,0,0)";
  const lines = { gridcolor: theme("border-color-light", line), zerolinecolor: line, linecolor: line, tickcolor: line };
  const axis = { ...lines, labelalias: PERCENTAGES };
  const font = { color, family: theme("font", "sans-serif"), size };
  const hoverlabel = { bgcolor: theme("secondary-background-color", "#f0f2f6"), bordercolor: line, font: { color } };
  const modebar = { bgcolor: clear, color, activecolor: theme("primary-color", color) };
  return { layout: { paper_bgcolor: clear, plot_bgcolor: clear, font, xaxis: axis, yaxis: axis, hoverlabel, modebar } };
}

/** Enlarge fonts, lines, marks, error bars and margins in a part of a figure. */
function enlarge(part, scale, name = "") {
  for (const [key, value] of Object.entries(part)) {
    if (typeof value === "number" && ENLARGED.test(name)) part[key] = value * (scale * LARGER[key] || 1);
    else if (value && typeof value === "object" && typeof value[0] !== "number") enlarge(value, scale, key);
  }
}

/** Put the legend in rows below a figure; where there is little room, in place of names at the ends of lines as well. */
function placeLegend({ data, layout }, isNarrow, isLarge) {
  const isEndName = ({ x, xref }) => xref === "x domain" && x > 1;
  const entries = data.filter((trace) => trace.name && trace.showlegend !== false).length;
  const { annotations = [], legend = {}, margin, showlegend = entries > 1 } = layout;
  const isBelow = showlegend && (legend.yanchor === "top" || legend.yref === "container") && legend.orientation === "h";
  const isTight = isNarrow || isLarge;
  if (!isBelow && !(isNarrow && showlegend) && !(isTight && annotations.some(isEndName))) return 0;
  if (isTight) layout.annotations = annotations.filter((annotation) => !isEndName(annotation));
  // Plotly makes room for the rows of such a legend, and for the title of the axis above it.
  const place = { orientation: "h", x: 0, xanchor: "left", y: 0, yanchor: "bottom", yref: "container" };
  layout.margin = { ...margin, r: isTight ? Math.min(margin.r, 24) : margin.r, b: 8 };
  Object.assign(layout, { showlegend: true, legend: { ...legend, ...place }, xaxis: { ...layout.xaxis, automargin: true } });
  return Math.max(0, 60 + ROW_PX * entries - margin.b);
}

/** Hand a zoomed figure the ranges that it was zoomed from: Plotly keeps a zoom only where these stay. */
function keepZoom(chart, { uirevision, ...axes }) {
  const ranges = (chart.revision === uirevision && chart.ranges) || {};
  Object.assign(chart, { ranges: {}, revision: uirevision });
  for (const [name, axis] of Object.entries(axes).filter(([name, axis]) => /^[xy]axis/.test(name) && axis.range)) {
    if (ranges[name] && `${chart.plot.layout[name].range}` !== `${ranges[name]}`) axis.range = ranges[name];
    chart.ranges[name] = [...axis.range];
  }
}

function heightOf({ plot, message: { large, hero, height } }) {
  if (!large || !hero) return height;
  const top = plot.getBoundingClientRect().top + plot.closest("main").scrollTop;
  return Math.max(MIN_HERO_PX, Math.floor(window.innerHeight - top - 12));
}

async function draw(chart) {
  const { plot, message } = chart;
  const { Plotly, config } = await (loading ??= load(message.plotly));
  if (chart.message !== message || !plot.isConnected) return; // a newer message, or another page
  const { figure: { data, layout }, large } = message;
  Object.assign(chart, { pending: false, width: plot.clientWidth, height: heightOf(chart) });
  if (!chart.width) return; // in a closed fold: the observer notices when it is opened
  layout.margin = { l: 56, r: 16, t: 40, b: 48, ...layout.margin };
  const isNarrow = chart.width < NARROW_PX;
  const rows = placeLegend(message.figure, isNarrow, large);
  const height = chart.height + (isNarrow && !(large && message.hero) ? rows : 0);
  const scale = isNarrow ? 0.8 : 1;
  if (large) enlarge(message.figure, scale);
  plot.style.height = `${height}px`;
  // A finger on a figure scrolls the page; only a mouse draws a box to zoom into.
  const dragmode = window.matchMedia("(pointer: coarse)").matches ? false : "zoom";
  const page = { width: chart.width, height, template: templateOf(plot, large ? FONT_PX * LARGER.size * scale : FONT_PX) };
  keepZoom(chart, layout);
  // Without a legend below, Plotly would leave the title of the axis where it stood above one
  const isBelow = Boolean(layout.xaxis?.automargin);
  if (chart.isBelow && !isBelow) Plotly.purge(plot);
  chart.isBelow = isBelow;
  await Plotly.react(plot, data, { uirevision: "keep", dragmode, ...layout, ...page }, config);
  // The label says what there is to see; without this a screen reader reads every tick label.
  for (const svg of plot.querySelectorAll(".main-svg")) svg.setAttribute("aria-hidden", "true");
  plot.dataset.drawn = Number(plot.dataset.drawn ?? 0) + 1; // for tests
}

/** Read the message in the page's colours, and draw the newest one at the next frame. */
function update(chart) {
  const { plot, note, text } = chart;
  chart.message = JSON.parse(text.replaceAll('"theme-ink"', `"${themeOf(plot).ink}"`));
  chart.message.large &&= window.innerWidth > PHONE_PX;
  chart.pending = true;
  chart.frame ??= requestAnimationFrame(async () => {
    try {
      while (chart.pending && plot.isConnected) await draw(chart);
      note.hidden = true;
    } catch (error) {
      Object.assign(chart, { pending: false, look: "" }); // so that the same message is tried again
      [note.hidden, loading] = [false, null];
      console.error(error);
    }
    chart.frame = null;
  });
}

function mount(parentElement) {
  const text = "This figure could not be drawn. Reload the page to try again.";
  const note = Object.assign(document.createElement("p"), { textContent: text, hidden: true });
  const plot = Object.assign(document.createElement("div"), { className: "dpviz-figure" });
  plot.setAttribute("role", "figure"); // not img, which may hold no buttons, and the toolbar is made of them
  parentElement.append(note, plot);
  const chart = { plot, note };
  chart.observer = new ResizeObserver(() => {
    const isStale = plot.clientWidth !== chart.width || heightOf(chart) !== chart.height;
    if (isStale && plot.clientWidth && !chart.pending) update(chart);
  });
  for (const element of [plot, ...document.querySelectorAll("main, main > div")]) chart.observer.observe(element);
  charts.set(parentElement, chart);
  return chart;
}

export default function showFigure({ data, parentElement }) {
  const chart = charts.get(parentElement) ?? mount(parentElement);
  const message = new TextDecoder().decode(data);
  const [{ length }, time] = /^{"time":([^,]+),/.exec(message);
  const text = `{${message.slice(length)}`;
  const look = JSON.stringify(templateOf(parentElement, FONT_PX));
  const isOlder = time - chart.time < 0 && chart.time - time < CLOCK_STEP_S;
  if (!isOlder && (text !== chart.text || look !== chart.look)) { // a rerun sends the same figure again
    update(Object.assign(chart, { time, text, look }));
    const { plot, message: { alt, name } } = chart;
    plot.setAttribute("aria-label", alt);
    plot.dataset.name = name;
    if (!plot.dataset.drawn) plot.style.height = `${heightOf(chart)}px`; // its place, until it is drawn
  }
  return () => setTimeout(() => { // after React has taken the element out, which a call that is only replaced has not
    if (parentElement.isConnected) return;
    charts.delete(parentElement);
    chart.observer.disconnect();
    if (chart.plot.dataset.drawn) window.Plotly.purge(chart.plot);
  });
}
