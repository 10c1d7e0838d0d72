// HTML that stays in the page while its texts, numbers, dots and paths change, so that what changes can move.
//
// The data are UTF-8 JSON: {html, texts, numbers, dots, paths}. The HTML is built where it is another one than before; then
// come the texts of [data-text=name], the style variables --name, the number of children of [data-dots=name] that are of the
// class "yes", and the shapes of the paths [data-path=name].

export default function showDrawing({ data, parentElement }) {
  const { html, texts, numbers, dots, paths } = JSON.parse(new TextDecoder().decode(data));
  let root = parentElement.querySelector(".dpviz-drawing");
  if (!root) {
    root = Object.assign(document.createElement("div"), { className: "dpviz-drawing" });
    parentElement.append(root);
  }
  if (root.html !== html) Object.assign(root, { html, innerHTML: html });
  const update = (values, attribute, change) => {
    for (const [name, value] of Object.entries(values)) {
      for (const element of root.querySelectorAll(`[data-${attribute}="${name}"]`)) change(element, value);
    }
  };
  for (const [name, number] of Object.entries(numbers)) root.style.setProperty(`--${name}`, number);
  update(texts, "text", (element, text) => (element.textContent = text));
  update(paths, "path", (path, shape) => path.setAttribute("d", shape));
  update(dots, "dots", ({ children }, count) => [...children].forEach((dot, place) => dot.classList.toggle("yes", place < count)));
  root.dataset.drawn = Number(root.dataset.drawn ?? 0) + 1; // for tests
}
