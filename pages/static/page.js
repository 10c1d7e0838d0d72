// What every page has: its style sheet, the settings for saved figures, a link to the answer, and what is read aloud.
// The data are UTF-8 JSON: {style, about, reading}, each of which may be missing: the URL of the style sheet, and the lines
// and the sentence on reading a table that go into files.

const SETTLED_MS = 1200; // without a change, after which an answer is announced
const PAPER_PX = 700; // width of a printed page between its margins
const create = (tag, properties) => Object.assign(document.createElement(tag), properties);
let path = location.pathname; // of the page that was shown last
let hasGuessed = false; // whether the last click was on the button of a guess, which goes with it
const style = create("link", { rel: "stylesheet" });
const skip = create("a", { className: "dpviz-skip", href: "#stMain", textContent: "Skip to the answer" });
const region = create("div", { className: "dpviz-announced", role: "status", ariaLive: "polite" });
const address = create("p", { className: "dpviz-address" });
document.head.append(style);
document.body.prepend(skip);
document.body.append(region, address);

skip.addEventListener("click", (event) => {
  event.preventDefault(); // the address stays
  const target = document.querySelector(".dpviz-answer") ?? document.querySelector("main");
  target.tabIndex = -1;
  target.focus();
});
document.addEventListener("click", ({ target }) => { // on a phone the menu stays open over the page that was chosen in it
  if (target.closest(".stSidebar a")) setTimeout(() => document.querySelector(".stSidebar [aria-expanded=true]")?.click());
});
document.addEventListener("click", ({ target }) => {
  hasGuessed = Boolean(target.closest(".st-key-lesson_go button"));
  if (target.closest(".st-key-lesson_ways button")) document.querySelector(".stMain").scrollTo(0, 0); // a step begins at its top
});
document.addEventListener("keydown", (event) => { // a slider would take the keys that lead through a lesson
  const way = { PageUp: "back", PageDown: "next" }[event.key];
  const button = way && event.target.type === "range" && document.querySelector(`.st-key-lesson_${way} button`);
  if (!button) return;
  event.preventDefault();
  event.stopPropagation();
  button.click();
}, true);
function update() {
  if (path !== location.pathname) document.querySelector(".stMain")?.scrollTo(0, 0); // a link stands far below the answer
  path = location.pathname;
  // Lists that hold groups of pages beside their items are no lists to a screen reader.
  for (const list of document.querySelectorAll(".stSidebar :is(ul, li):not([role])")) list.role = "none";
  const next = hasGuessed && document.activeElement === document.body && document.querySelector(".st-key-lesson_next button");
  if (next) next.focus({ preventScroll: true }); // the next Tab would else be the first of the page
  const answer = document.querySelector(".dpviz-answer")?.textContent ?? "";
  if (answer === region.answer) return;
  clearTimeout(region.timer);
  Object.assign(region, { answer, timer: setTimeout(() => (region.textContent = answer), SETTLED_MS) });
}
update();
new MutationObserver(update).observe(document.body, { childList: true, characterData: true, subtree: true });
window.addEventListener("beforeprint", () => {
  const { clientWidth } = document.querySelector(".st-key-details") ?? document.querySelector("main > div > div");
  const zoom = Math.min(0.95, PAPER_PX / clientWidth); // of figures, which keep the width that they have on the screen
  document.documentElement.style.setProperty("--print-zoom", zoom);
  address.textContent = location.href;
});

export default function showPage({ data }) {
  const message = JSON.parse(new TextDecoder().decode(data));
  const href = message.style && new URL(message.style, document.baseURI).href;
  if (href && style.href !== href) style.href = href;
  if (message.about) Object.assign(window, { dpvizAbout: message.about, dpvizReading: message.reading });
}
