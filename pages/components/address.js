// Sets the query of the page's address, in place of the one before it: no entry of the browser's history is added.
//
// Streamlit calls the default export again at every rerun, with the same parentElement. The data: the bytes of {path,
// paths, prefixes, query, entry, about} as JSON: where the page is, where every page is, what the keys of the settings
// begin with, the new query, a word that is new each time the server has read the address, and lines for files that say
// what was shown.

const PATIENCE = 25; // ms between two looks at whether the browser has come to the page
const FORGOTTEN = 15000; // ms after which a step back that the server has not heard of is forgotten
let timer;
let latest = null;
let left = { entry: null, at: -Infinity };

// A run that was under way when the reader went back does not write its settings over those of the entry come to.
window.addEventListener("popstate", () => {
  clearTimeout(timer);
  left = { entry: latest, at: performance.now() };
});

// On a phone the pages are in a drawer, which Streamlit leaves open over the page that was chosen in it.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-testid=stSidebarNavLink]")) return;
  setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
});

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  window.dpvizAbout = data.about; // for the files that pictures are saved to
  const place = parentElement.closest?.("[data-testid=stElementContainer]");
  if (place) Object.assign(place.style, { position: "absolute", height: "0", overflow: "hidden" });
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
      if (data.prefixes.some((prefix) => key.startsWith(prefix))) others.delete(key);
    }
    others.delete("class");
    const query = [data.class ? "class=1" : "", others.toString(), data.query].filter(Boolean).join("&");
    const address = location.pathname + (query ? `?${query}` : "") + location.hash;
    if (address !== location.pathname + location.search + location.hash) {
      history.replaceState(history.state, "", address);
    }
  };
  write();
  return undefined;
}
