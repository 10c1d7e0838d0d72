// The toolbar of a figure: it is saved as PNG, SVG or CSV, with its title, the page's settings and address in the file.

const TABLE = "M2 3h20v18H2zM4 8h16V5H4zM4 13h5v-3H4zM11 13h9v-3h-9zM4 19h5v-4H4zM11 19h9v-4h-9z"; // the path of an icon
const ARRAYS = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array,
};

export function toolbarOf(Plotly) {
  const button = (type, icon, blobOf) => ({ name: type, title: `Download as ${type.toUpperCase()}`, icon, click: async (plot) => {
    const href = URL.createObjectURL(await blobOf(plot, Plotly));
    Object.assign(document.createElement("a"), { href, download: `${plot.dataset.name}.${type}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  } });
  const icon = { width: 24, height: 24, path: TABLE };
  const images = [button("png", Plotly.Icons.camera, pngOf), button("svg", Plotly.Icons.disk, svgOf)];
  return { displaylogo: false, displayModeBar: true, modeBarButtons: [[...images, button("csv", icon, csvOf), "resetScale2d"]] };
}

/** Texts in lines of about a width, as SVG below `top`, and where they end. */
function textOf(texts, size, width, top) {
  const most = Math.floor(width / (0.56 * size)); // letters in a line
  const lines = texts.flatMap((text) => text.match(new RegExp(`.{1,${most}}(?:\\s|$)|.{1,${most}}`, "g")) ?? []);
  const escape = (line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const place = (line, row) => `<text x="12" y="${top + 1.35 * size * (row + 1)}" font-size="${size}">${escape(line)}</text>`;
  return { svg: lines.map(place).join(""), bottom: top + 1.35 * size * lines.length + 8 };
}

/** The figure between its title and the settings of the page. */
async function svgOf(plot, Plotly) {
  const { clientWidth: width, clientHeight, layout, data } = plot;
  const style = getComputedStyle(plot);
  const title = textOf(layout.title?.text ? [] : [plot.getAttribute("aria-label")], 15, width, 4);
  const about = textOf(window.dpvizAbout ?? [], 11, width, title.bottom + clientHeight);
  const font = { ...layout.font, family: "sans-serif" }; // a file has none of the page's own fonts
  const url = await Plotly.toImage({ data, layout: { ...layout, font } }, { format: "svg", width, height: clientHeight });
  const inner = decodeURIComponent(url.slice(url.indexOf(",") + 1)).replace("<svg ", `<svg y="${title.bottom}" `);
  const size = `width="${width}" height="${Math.ceil(about.bottom)}" font-family="sans-serif" fill="${style.color}"`;
  const paper = `<rect width="100%" height="100%" fill="${style.getPropertyValue("--st-background-color") || "#fff"}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${paper}${title.svg}${inner}${about.svg}</svg>`;
  return new Blob([svg], { type: "image/svg+xml" });
}

async function pngOf(plot, Plotly) {
  const image = Object.assign(new Image(), { src: URL.createObjectURL(await svgOf(plot, Plotly)) });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

/** The values of a field of a trace: a list, or plotly's {dtype, bdata, shape}, whose rows become lists. */
function valuesOf(field) {
  if (!field?.bdata) return Array.from(field ?? []);
  const flat = [...new ARRAYS[field.dtype](Uint8Array.from(atob(field.bdata), (byte) => byte.charCodeAt(0)).buffer)];
  const [rows, columns] = String(field.shape ?? flat.length).split(",").map(Number);
  return columns ? Array.from({ length: rows }, (_, row) => flat.slice(row * columns, (row + 1) * columns)) : flat;
}

function cellOf(value) {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const words = new DOMParser().parseFromString(value ?? "", "text/html").body.textContent; // names may hold tags
  const text = /^\s*[=+\-@]/.test(words) && Number.isNaN(Number(words)) ? `'${words}` : words; // never a formula
  return /[",\n#]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The numbers of a figure, a line for each point, every digit. A trace without meta and name only points at something. */
function csvOf(plot) {
  const rows = [["series", "x", "y", "value", "low", "high"]];
  for (const trace of plot.data.filter(({ meta, name, hoverinfo }) => (meta ?? name) && hoverinfo !== "skip")) {
    const series = trace.meta ?? trace.name;
    const [x, y, z] = [trace.x, trace.y, trace.z && (trace.customdata ?? trace.z)].map(valuesOf); // z may be cut to the colours
    const bar = trace.error_y?.array ? trace.error_y : trace.error_x;
    const middle = bar === trace.error_y ? y : x;
    const above = valuesOf(bar?.array);
    const below = bar?.symmetric === false ? valuesOf(bar.arrayminus) : above;
    const ends = (i) => (above.length ? [middle[i] - below[i], middle[i] + above[i]] : ["", ""]);
    const isNumber = (value) => value !== null && !Number.isNaN(value);
    z.forEach((line, i) => line.forEach((value, j) => rows.push([series, x[j] ?? j, y[i] ?? i, value, "", ""])));
    if (!trace.z) y.forEach((value, i) => isNumber(value) && rows.push([series, x[i] ?? i, value, "", ...ends(i)]));
  }
  const columns = rows[0].map((_, column) => column).filter((column) => column < 3 || rows.slice(1).some((row) => row[column] !== ""));
  const lines = rows.map((row) => `${columns.map((column) => cellOf(row[column])).join(",")}\n`);
  const reading = (window.dpvizReading ?? "").replaceAll("FILE", `${plot.dataset.name}.csv`);
  const about = [plot.getAttribute("aria-label"), ...(window.dpvizAbout ?? []), reading].filter(Boolean);
  const mark = "\ufeff"; // a spreadsheet reads the file as UTF-8
  return new Blob([mark, ...about.map((line) => `# ${line}\n`), ...lines], { type: "text/csv" });
}
