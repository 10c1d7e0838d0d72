// On a narrow screen the controls are a panel at the lower edge, which a button beside the answer opens and closes.
//
// Streamlit calls the default export again at every rerun, with the same parentElement. Whether the panel is open is
// kept at the root of the document, which no run touches: the style sheet does the rest. The data: bytes of {style,
// open} as JSON: where the style sheet is, which is fetched once, and whether the page begins with the panel open.

const root = document.documentElement;
const ID = "dpviz-controls";
const panel = () => document.querySelector(".st-key-controls");
const button = () => document.querySelector(".dpviz-dock button");
const scrolled = () => document.querySelector("[data-testid=stMain]");
const hero = () => document.querySelector("[role=figure][data-hero]");
const isOpen = () => "dpvizPanel" in root.dataset;

const heights = new ResizeObserver(measure);

/** The line with the answer stands on the panel, however high that is. */
function measure() {
  root.style.setProperty("--dpviz-panel", `${panel()?.offsetHeight ?? 0}px`);
  document.dispatchEvent(new Event("dpviz-panel")); // for the first picture
}

/** The picture above the open panel stays, whatever becomes longer or shorter there, until the reader scrolls the page. */
const lengths = new ResizeObserver(() => stays && hero() && uncover());
let stays = false;
const leave = (event) => {
  if (!event.target.closest?.(".st-key-controls")) stays = false;
};
for (const kind of ["wheel", "touchmove", "keydown"]) document.addEventListener(kind, leave, { passive: true });

/** The first picture, which makes itself as high as the panel leaves room for, moves up to the top of the screen.
 *
 * Where there is none, what of the answer the panel would cover moves up, as far as the top of the screen.
 */
function uncover() {
  const main = scrolled();
  const header = document.querySelector("[data-testid=stHeader]")?.offsetHeight ?? 0;
  const picture = hero();
  if (picture) return main.scrollBy({ top: picture.getBoundingClientRect().top - header });
  const answer = document.querySelector(".dpviz-answer")?.getBoundingClientRect();
  const beside = panel().offsetWidth < innerWidth; // as on a low screen
  const edge = innerHeight - (beside ? 0 : panel().offsetHeight) - document.querySelector(".dpviz-dock").offsetHeight;
  if (!answer || answer.top > innerHeight || answer.bottom < edge) return undefined;
  return main.scrollBy({ top: Math.min(answer.bottom - edge, answer.top - header) });
}

function open() {
  Object.assign(panel(), { id: ID, role: "region", ariaLabel: "Controls" });
  root.dataset.dpvizPanel = "open";
  measure();
  heights.observe(panel());
  button().setAttribute("aria-expanded", "true");
  button().setAttribute("aria-controls", ID);
  uncover();
  stays = true;
  lengths.observe(document.querySelector(".stMainBlockContainer"));
}

function close() {
  const place = isOpen() ? hero()?.getBoundingClientRect() : null;
  heights.disconnect();
  lengths.disconnect();
  delete root.dataset.dpvizPanel;
  // On a low screen what is above the picture has other lines without the panel beside it.
  if (place?.bottom > 0 && place.top < innerHeight) {
    scrolled().scrollBy({ top: hero().getBoundingClientRect().top - place.top });
  }
  document.dispatchEvent(new Event("dpviz-panel"));
  button()?.setAttribute("aria-expanded", "false");
  button()?.removeAttribute("aria-controls");
}

document.addEventListener(
  "keydown",
  (event) => {
    // A list that is unfolded closes first.
    if (event.key !== "Escape" || !isOpen() || event.target.closest?.("[role=combobox][aria-expanded=true]")) return;
    close();
    button()?.focus();
  },
  { capture: true },
);

// "Change" beside the release leads to the controls.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.(".dpviz-release button")) return;
  if (getComputedStyle(document.querySelector(".dpviz-dock")).display !== "none") open();
  panel()?.querySelector("input, button")?.focus();
});

let owner = null; // the parentElement of the page that is shown

/** Open the panel once the controls, which follow in the page, are there: the screen's width may not be known before. */
function openSoon(parentElement) {
  if (owner !== parentElement) return;
  const dock = parentElement.querySelector(".dpviz-dock");
  if (!dock.isConnected || !panel()?.offsetHeight) setTimeout(() => openSoon(parentElement), 50);
  else if (getComputedStyle(dock).display !== "none") open();
}

/** The style sheet stays in the head of the document, whatever page is shown. */
function dress(style) {
  if (document.querySelector("link.dpviz-style")) return;
  const href = new URL(style, document.baseURI);
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", className: "dpviz-style", href }));
}

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  dress(data.style);
  root.toggleAttribute("data-dpviz-large", data.large);
  if (!parentElement.querySelector(".dpviz-dock")) {
    const dock = document.createElement("div");
    dock.className = "dpviz-dock";
    dock.innerHTML = '<button type="button" aria-expanded="false">Controls</button>';
    dock.firstChild.addEventListener("click", () => (isOpen() ? close() : open()));
    parentElement.append(dock);
    if (owner !== parentElement) close(); // the next page shows its answer first
    owner = parentElement;
    if (data.open) setTimeout(() => openSoon(parentElement), 50);
  }
  return () =>
    setTimeout(() => {
      if (parentElement.isConnected || owner !== parentElement) return; // another page is there already
      owner = null;
      close();
    });
}
