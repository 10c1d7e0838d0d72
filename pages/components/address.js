// Sets the query of the page's address, in place of the one before it: no entry of the browser's history is added, but
// where the page says that it has come to another place, such as the next step of a lesson.
//
// Streamlit calls the default export again at every rerun, with the same parentElement. The data: the bytes of {path,
// paths, prefixes, names, query, place, entry, session, about, reading, release} as JSON: where the page is, where every
// page is, what the keys of the settings begin with, those that begin otherwise, the new query, the place on the page, a
// word that is new each time the server has read the address, one of the session, lines for files that say what was
// shown, one on how a table is read, and the line of the release that the reader carries.

const PATIENCE = 25; // ms between two looks at whether the browser has come to the page
const FORGOTTEN = 15000; // ms after which a step back that the server has not heard of is forgotten
let timer;
let latest = null;
let left = { entry: null, at: -Infinity };
let place = null; // the last one that the address has been set to; none where the reader has gone back or forth

// A run that was under way when the reader went back does not write its settings over those of the entry come to.
window.addEventListener("popstate", () => {
  clearTimeout(timer);
  place = null;
  left = { entry: latest, at: performance.now() };
});

// Streamlit puts the names of the groups of pages, which are no items, into lists: then they are shown as none. It makes
// the lists when it likes: as a drawer opens, as a screen becomes narrow, after a run that is over at once.
const LISTS = "[data-testid=stSidebarNavItems]";

function unlist() {
  for (const one of document.querySelectorAll(`${LISTS}, ${LISTS} li`)) one.role = "none";
}

const lists = (node) => node.closest?.(LISTS) || node.querySelector?.(LISTS);
const made = (changes) => changes.some((change) => [...change.addedNodes].some(lists)) && unlist();
new MutationObserver(made).observe(document.body, { childList: true, subtree: true });
unlist();

// On a phone the pages are in a drawer, which Streamlit leaves open over the page that was chosen in it.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-testid=stSidebarNavLink]")) return;
  setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
});

// Who listens to the page hears the answer once it has been at rest for a while, and never a second time. An answer that
// grows comes without a run of the whole page.
const SETTLED = 1200; // ms without a run and without another answer after which an answer is said
const said = document.createElement("div");
Object.assign(said, { className: "dpviz-announced", role: "status", ariaLive: "polite" });
const answered = () => document.querySelector(".dpviz-answer")?.textContent ?? "";
let shown = "";
let saying;

function soon() {
  clearTimeout(saying);
  saying = setTimeout(say, SETTLED);
}

function say() {
  if (said.textContent !== answered()) said.textContent = answered();
  tell();
}

new MutationObserver(() => {
  if (shown === answered()) return;
  shown = answered();
  soon();
}).observe(document.body, { childList: true, characterData: true, subtree: true });

// Of several lists, each button that clears one says which.
function tell() {
  for (const clear of document.querySelectorAll("[data-testid=stMultiSelect] [aria-label='Clear all']")) {
    const label = clear.closest("[data-testid=stMultiSelect]").querySelector("label")?.textContent;
    if (label) clear.ariaLabel = `Clear all: ${label}`;
  }
}

// What "More" folds comes only after it has been unfolded, with no run of the whole page.
const coming = new MutationObserver(tell);
document.addEventListener(
  "toggle",
  (event) => {
    if (event.target.closest?.(".st-key-more")) coming.observe(event.target, { childList: true, subtree: true });
  },
  { capture: true },
);

// The first stop of the Tab key leads past the pages and the controls.
const skip = document.createElement("button");
Object.assign(skip, { type: "button", className: "dpviz-skip", textContent: "Go to the answer" });
skip.addEventListener("click", () => {
  const first = (parts) => [...document.querySelectorAll(parts)].find((one) => one.offsetHeight > 0);
  const answer = first(".dpviz-answer, .dpviz-story") ?? first(".dpviz-problem"); // a low screen has it only in short
  if (!answer) return;
  answer.tabIndex = -1;
  answer.focus();
  answer.scrollIntoView({ block: "center" });
});

// A browser whose server was started anew comes back to a session that knows nothing but the address and the controls.
const ANEW =
  "The server was started anew, and your settings are as they were. Press Start again if a simulation was running, and " +
  "choose your file again if you had chosen one.";
const anew = document.createElement("p");
Object.assign(anew, { className: "dpviz-anew", role: "alert" });
const close = document.createElement("button");
Object.assign(close, { type: "button", textContent: "Close" });
close.addEventListener("click", () => anew.remove());
let session = "";

function tellAnew(present) {
  if (session && present && session !== present) {
    anew.style.colorScheme = getComputedStyle(document.querySelector("[data-testid=stApp]")).colorScheme;
    anew.replaceChildren(ANEW, " ", close);
    document.body.append(anew);
  }
  session = present || session;
}

// What grows, and hears nothing of its steps, has the whole page run anew.
let runAnew;
document.addEventListener("dpviz-unheard", () => runAnew?.());

export default function (component) {
  runAnew = () => component.setTriggerValue("anew", String(performance.now()));
  if (!skip.isConnected && !document.querySelector(".dpviz-skip")) {
    document.body.prepend(skip);
    document.body.append(said);
  }
  soon();
  const { parentElement } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  tellAnew(data.session);
  const line = document.querySelector(".dpviz-release");
  if (line) {
    line.hidden = !data.release;
    line.firstElementChild.textContent = data.release;
  }
  window.dpvizAbout = data.about; // for the files that pictures are saved to
  window.dpvizReading = data.reading; // how their numbers are read, of a file called FILE
  clearTimeout(timer);
  if (data.entry === left.entry && performance.now() - left.at < FORGOTTEN) return undefined;
  latest = data.entry;
  const write = () => {
    const here = location.pathname.replace(/\/+$/, "").split("/").pop();
    const arrived = data.path ? here === data.path : !data.paths.includes(here) || here === "";
    if (!arrived) {
      timer = setTimeout(write, PATIENCE);
      return;
    }
    const others = new URLSearchParams(location.search);
    for (const key of [...others.keys()]) {
      if (data.names.includes(key) || data.prefixes.some((prefix) => key.startsWith(prefix))) others.delete(key);
    }
    others.delete("class");
    const query = [data.class ? "class=1" : "", others.toString(), data.query].filter(Boolean).join("&");
    const address = location.pathname + (query ? `?${query}` : "") + location.hash;
    const [before, now] = [place, `${data.path} ${data.place}`];
    place = now;
    if (address === location.pathname + location.search + location.hash) return;
    const moved = before !== null && before !== now && before.startsWith(`${data.path} `);
    history[moved ? "pushState" : "replaceState"](history.state, "", address);
  };
  write();
  return undefined;
}
