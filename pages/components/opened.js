// Has the address of the page say which cell is open, so that who follows a copy of it finds the same one open.
//
// Cells are <details> whose ids begin with "cell-"; of those with one name a browser has one open at a time. Streamlit
// calls the default export again at every rerun. The data: the bytes of what the ids of the paper's cells go on with. No
// entry of the browser's history is added.

const NAME = "cell";
const OF_A_CELL = "cell-";
let seen = null; // the cell that has been brought into sight: a rerun does not move the page

const asked = () => new URLSearchParams(location.search).get(NAME);

function say(word) {
  const said = new URLSearchParams(location.search);
  if (word) said.set(NAME, word);
  else said.delete(NAME);
  const address = location.pathname + (said.size ? `?${said}` : "") + location.hash;
  if (address !== location.pathname + location.search + location.hash) history.replaceState(history.state, "", address);
}

document.addEventListener(
  "toggle",
  (event) => {
    const { id, open, isConnected } = event.target;
    if (!id?.startsWith(OF_A_CELL) || !isConnected) return;
    const word = id.slice(OF_A_CELL.length);
    if (open) {
      seen = word;
      say(word);
    } else if (asked() === word) say("");
  },
  { capture: true },
);

function openAsked() {
  const word = asked();
  const cell = word && document.getElementById(OF_A_CELL + word);
  if (!cell || cell.open) return;
  cell.open = true;
  if (seen === word) return;
  seen = word;
  cell.scrollIntoView({ block: "center" });
}

// What the page shows comes after this, and comes anew where a filter is set.
const coming = new MutationObserver(openAsked);

export default function (component) {
  const paper = new TextDecoder().decode(component.data);
  if (asked() && !asked().startsWith(paper)) say("");
  coming.observe(document.querySelector("[data-testid=stMain]") ?? document.body, { childList: true, subtree: true });
  openAsked();
  return () => coming.disconnect();
}
