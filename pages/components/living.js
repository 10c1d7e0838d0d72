// A piece of HTML that stays in the page and takes new words and numbers, so that what changes can move.
//
// The data: {html, texts, numbers, dots}. The HTML is built when it is new; then the text of [data-text=name], the
// style variable --name, and how many of the children of [data-dots=name] are of the class "one".

export default function showLiving({ data, parentElement }) {
  const message = JSON.parse(new TextDecoder().decode(data));
  let root = parentElement.querySelector(".dpviz-living");
  if (!root) {
    root = document.createElement("div");
    root.className = "dpviz-living";
    parentElement.append(root);
  }
  if (root.html !== message.html) {
    root.html = message.html;
    root.innerHTML = message.html;
  }
  for (const [name, number] of Object.entries(message.numbers)) root.style.setProperty(`--${name}`, number);
  for (const [name, text] of Object.entries(message.texts)) {
    for (const place of root.querySelectorAll(`[data-text="${name}"]`)) place.textContent = text;
  }
  root.dataset.drawn = Number(root.dataset.drawn ?? 0) + 1; // for tests
  for (const [name, ones] of Object.entries(message.dots)) {
    const dots = root.querySelectorAll(`[data-dots="${name}"] > *`);
    dots.forEach((dot, place) => dot.classList.toggle("one", place < ones));
  }
}
