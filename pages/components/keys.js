// In class mode the arrows move the slider that was touched last, the space bar starts and stops what runs, and tables
// stay unfolded.

let touched = "";
let mounted = 0;

const SWITCHES = "[type=range], [type=checkbox], [type=radio]";
const typing = (element) => element.closest?.(`input:not(${SWITCHES}), textarea, select, [contenteditable]`);

const starts = (name) => name.startsWith("st-key-") && name.endsWith("_go"); // and not a goal

function note(event) {
  const slider = event.target.closest?.("[class*='st-key-'][class*='_slider']");
  if (slider) touched = [...slider.classList].find((name) => name.startsWith("st-key-")) ?? "";
}

function press(event) {
  if (!mounted || event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
  if (event.key === " " && !event.target.closest?.("button, a, summary, label, [role=option], [type=checkbox], [type=radio]")) {
    const places = [...document.querySelectorAll(".stMain [class*='st-key-'][class*='_go']")];
    const button = places.find((one) => [...one.classList].some(starts))?.querySelector("button");
    if (!button) return;
    event.preventDefault();
    button.click();
  }
  if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  if (event.target.closest?.("[role=radio], [role=tab], [type=radio], [type=range]")) return; // which they move already
  const sliderOf = (name) => document.querySelector(`.stMain [class*='${name}'][class*='_slider'] input[type=range]`);
  const slider = (touched && sliderOf(touched)) || sliderOf("st-key-"); // none of this page was touched: its first one
  if (!slider) return;
  event.preventDefault();
  slider.focus();
  slider.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true, cancelable: true }));
}

document.addEventListener("pointerdown", note, true);
document.addEventListener("focusin", note, true);
document.addEventListener("keydown", press);

// A table that was unfolded stays so when a run draws it anew.
const unfolded = new Set();
const seen = new WeakSet();
const nameOf = (fold) => fold.querySelector("summary").textContent;
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target.matches?.(".dpviz-fold")) unfolded[target.open ? "add" : "delete"](nameOf(target));
  },
  true,
);
new MutationObserver(() => {
  for (const fold of document.querySelectorAll(".dpviz-fold:not([open])")) {
    if (unfolded.has(nameOf(fold)) && !seen.has(fold)) fold.open = true;
    seen.add(fold);
  }
}).observe(document.querySelector("[data-testid=stMain]") ?? document.body, { childList: true, subtree: true });

export default function () {
  mounted += 1;
  return () => {
    mounted -= 1;
  };
}
