// Has the address of the page say which room it is in, and which seat or whose link: a reload comes back to the same.
//
// Streamlit calls the default export again at every rerun. The data: {path, …}, where the page is, and the value of each
// other name, empty where there is none. No entry of the browser's history is added.

const PATIENCE = 25; // ms between two looks at whether the browser has come to the page
let timer;

export default function (component) {
  const { parentElement } = component;
  const { path, ...query } = component.data;
  clearTimeout(timer);
  const write = () => {
    if (location.pathname.replace(/\/+$/, "").split("/").pop() !== path) {
      timer = setTimeout(write, PATIENCE);
      return;
    }
    const said = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(query)) {
      if (value) said.set(name, value);
      else said.delete(name);
    }
    const address = location.pathname + (said.size ? `?${said}` : "") + location.hash;
    if (address !== location.pathname + location.search + location.hash) {
      history.replaceState(history.state, "", address);
    }
  };
  write();
  return undefined;
}
