// In class mode the arrows move the slider that was touched last, and the space bar starts and stops what runs.

let touched = "";
let mounted = 0;

const typing = (element) => element.closest?.("input, textarea, select, [contenteditable]");

function note(event) {
  const slider = event.target.closest?.("[class*='st-key-'][class*='_slider']");
  if (slider) touched = [...slider.classList].find((name) => name.startsWith("st-key-")) ?? "";
}

function press(event) {
  if (!mounted || event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
  if (event.key === " " && !event.target.closest?.("button, a, [role=option]")) {
    const button = document.querySelector(".stMain [class*='st-key-'][class*='_go'] button");
    if (!button) return;
    event.preventDefault();
    button.click();
  }
  if (!["ArrowLeft", "ArrowRight"].includes(event.key) || event.target.closest?.("[role=radio], [role=tab]")) return;
  const place = touched || "st-key-"; // none was touched: the first of the page
  const slider = document.querySelector(`.stMain [class*='${place}'][class*='_slider'] input[type=range]`);
  if (!slider) return;
  event.preventDefault();
  slider.focus();
  const step = event.key === "ArrowLeft" ? -1 : 1; // the key itself was not meant for the slider: do what it does
  const value = Math.min(Math.max(Number(slider.value) + step, Number(slider.min)), Number(slider.max));
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, String(value));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("pointerdown", note, true);
document.addEventListener("focusin", note, true);
document.addEventListener("keydown", press);

export default function ({ parentElement }) {
  const place = parentElement.closest?.("[data-testid=stElementContainer]");
  if (place) Object.assign(place.style, { position: "absolute", height: "0", overflow: "hidden" });
  mounted += 1;
  return () => {
    mounted -= 1;
  };
}
