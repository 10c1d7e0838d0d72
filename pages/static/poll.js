// Has the page run again once a text on the server differs from what the page has seen, and says where it cannot be asked.
//
// The data: {watch, seen, after}: the address of the text relative to the page, the text that the page has seen, and the
// milliseconds between two looks. The value of the trigger "changed" is the new text.

const SLOWER = 5; // times, while nobody sees the page, and after a trigger until the page has run
const polls = new WeakMap(); // parentElement -> the data of its poll as text
const problem = Object.assign(document.createElement("p"), { className: "dpviz-problem", role: "status" });
problem.textContent = "The server cannot be reached at present: what you see may be out of date.";

export default function poll({ data, parentElement, setTriggerValue }) {
  const key = JSON.stringify(data);
  if (polls.get(parentElement) === key) return;
  polls.set(parentElement, key);
  const isCurrent = () => parentElement.isConnected && polls.get(parentElement) === key;
  let timer = null;
  const wait = (factor) => {
    clearTimeout(timer);
    timer = setTimeout(look, data.after * factor * (0.8 + 0.4 * Math.random())); // a class does not ask in one moment
  };
  const wake = () => document.hidden || wait(0);
  const look = async () => {
    if (!isCurrent()) return document.removeEventListener("visibilitychange", wake);
    const response = await fetch(new URL(data.watch, document.baseURI), { cache: "no-store" }).catch(() => null);
    if (response?.ok) problem.remove();
    else if (isCurrent()) document.querySelector(".dpviz-title")?.after(problem);
    const text = response?.ok ? await response.text() : data.seen; // where the server is away, it is asked again
    if (text !== data.seen && isCurrent()) setTriggerValue("changed", text);
    wait(text !== data.seen || document.hidden ? SLOWER : 1);
  };
  document.addEventListener("visibilitychange", wake);
  wait(1);
}
