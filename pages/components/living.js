// A piece of HTML that stays in the page and takes new words and numbers, so that what changes can move.
//
// The data: {html, texts, numbers, dots, paths}. The HTML is built when it is new; then the text of [data-text=name], the
// style variable --name, how many of the children of [data-dots=name] are of the class "one", and the shape of the path
// [data-path=name]. In class mode the drawing is of the class "whole" and fills the rest of the screen.

const MARGIN = 12; // pixels that stay free below it
const SMALLEST = 320; // pixels below which it is no drawing any more

function fill(root) {
  const whole = document.querySelector(".dpviz-large") !== null;
  const scrolled = root.closest("[data-testid=stMain]")?.scrollTop ?? 0;
  const rest = window.innerHeight - (root.getBoundingClientRect().top + scrolled) - MARGIN;
  root.classList.toggle("whole", whole);
  root.style.minHeight = whole ? `${Math.max(rest, SMALLEST)}px` : "";
  root.style.display = whole ? "grid" : "";
}

export default function showLiving({ data, parentElement }) {
  const message = JSON.parse(new TextDecoder().decode(data));
  let root = parentElement.querySelector(".dpviz-living");
  if (!root) {
    root = document.createElement("div");
    root.className = "dpviz-living";
    parentElement.append(root);
    const whole = new ResizeObserver(() => fill(root));
    const above = parentElement.closest("[data-testid=stVerticalBlock]"); // what stands above may come later
    for (const one of [document.documentElement, parentElement, above]) whole.observe(one ?? parentElement);
  }
  if (root.html !== message.html) {
    root.html = message.html;
    root.innerHTML = message.html;
  }
  for (const [name, number] of Object.entries(message.numbers)) root.style.setProperty(`--${name}`, number);
  for (const [name, text] of Object.entries(message.texts)) {
    for (const place of root.querySelectorAll(`[data-text="${name}"]`)) place.textContent = text;
  }
  for (const [name, shape] of Object.entries(message.paths)) {
    for (const path of root.querySelectorAll(`[data-path="${name}"]`)) path.setAttribute("d", shape);
  }
  root.dataset.drawn = Number(root.dataset.drawn ?? 0) + 1; // for tests
  for (const [name, ones] of Object.entries(message.dots)) {
    const dots = root.querySelectorAll(`[data-dots="${name}"] > *`);
    dots.forEach((dot, place) => dot.classList.toggle("one", place < ones));
  }
  fill(root);
}
