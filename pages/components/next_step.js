// Asks for the next step of what moves: once the browser has all of the last one, and the reader's own moves go first.
//
// Streamlit calls the default export again at every rerun, with the same parentElement. The data: {step, after}, a
// number that is new in every run, and the milliseconds to wait; and where the next step is to come only once there is
// something new, {watch, seen}: the address that tells of it, and what it told when this step was made.

const waiting = new WeakMap(); // parentElement -> {step, timer}
const watching = new Map(); // parentElement -> what looks at once
const PATIENCE = 25; // ms between two looks at whether it is time
const HANDS_OFF = 250; // ms after a click or a key in which the run that it causes may be on its way
const APART = 150; // ms between the requests of two different things that move
const FORGOTTEN = 15000; // ms after which what the reader did counts as lost that the server has said nothing to
const UNHEARD = 4000; // ms after which a step is asked for again that nothing came of
const AGAIN = 1000; // ms between two looks at whether it is time for that
const TRIES = 2; // Steps that nothing came of after which the page itself is asked for
const JITTER = 0.4; // Share by which the pauses of those who watch differ, so that a class does not ask in one moment
const HIDDEN = 5; // Times as long as usual a page waits that nobody sees

let touched = -Infinity;
let asked = { at: -Infinity, by: null };
for (const kind of ["pointerdown", "pointerup", "keydown", "change"]) {
  document.addEventListener(kind, () => (touched = performance.now()), { capture: true, passive: true });
}

// What was sent is under way until the server says something, which on a busy machine takes longer than any pause. A
// step that is asked for meanwhile names the page that is still shown: a link to another page would lead back to it.
let sent = -Infinity;
let silence = FORGOTTEN; // ms that the server may take to say something to it
const heard = new WeakSet();
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (message) {
  if (!heard.has(this)) this.addEventListener("message", () => (sent = -Infinity));
  heard.add(this);
  sent = performance.now();
  silence = FORGOTTEN;
  return send.call(this, message);
};

/** Whether Streamlit is at work for this reader; where it does not say so, it is taken to be at rest. */
const busy = () => (document.querySelector("[data-testid=stApp]")?.dataset.testScriptState ?? "notRunning") !== "notRunning";

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  if (waiting.get(parentElement)?.step === data.step) return undefined;
  stop(parentElement);
  const held = { step: data.step, tries: 0 };
  waiting.set(parentElement, held);
  const lookAfter = (pause) => {
    clearTimeout(held.timer);
    Object.assign(held, { touched, timer: setTimeout(look, pause) });
  };
  const look = () => {
    if (!parentElement.isConnected) return stop(parentElement);
    const now = performance.now();
    const calm = now - touched >= HANDS_OFF && held.touched === touched; // what a later touch caused has been sent
    const free = calm && now - sent >= silence;
    const apart = asked.by === parentElement || now - asked.at >= APART;
    if (busy() || !free || !apart) return lookAfter(held.tries ? AGAIN : PATIENCE);
    if (data.watch && !held.news) return listen();
    asked = { at: now, by: parentElement };
    lookAfter(UNHEARD);
    held.tries = (held.tries + 1) % (TRIES + 1);
    // A server that was started anew has no such step, and says nothing: it knows the page once it has run for it.
    if (!held.tries) return document.dispatchEvent(new Event("dpviz-unheard"));
    return alone(() => setTriggerValue("step", data.step));
  };
  const pause = () => data.after * (data.watch ? (1 + JITTER * (Math.random() - 0.5)) * (document.hidden ? HIDDEN : 1) : 1);
  const listen = async () => {
    try {
      const told = await fetch(new URL(data.watch, document.baseURI), { cache: "no-store" });
      held.news = told.ok && (await told.text()) !== data.seen;
    } catch {
      held.news = false; // the server is away: it is asked again
    }
    if (waiting.get(parentElement) === held) lookAfter(held.news ? 0 : pause());
  };
  if (data.watch) watching.set(parentElement, () => lookAfter(0));
  lookAfter(pause());
  return undefined;
}

// Who comes back to a page that nobody saw hears at once what is new.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) for (const look of watching.values()) look();
});

/** Make a request that Streamlit sends at once.
 *
 * It would send it after a timeout of 0, together with whatever the reader moves until then; and where a step is among
 * several changes, the server runs nothing but the step: the move was lost on a busy machine.
 */
function alone(request) {
  const later = window.setTimeout;
  window.setTimeout = (act, pause, ...rest) => (pause ? later(act, pause, ...rest) : void act(...rest));
  try {
    request();
    silence = UNHEARD;
  } finally {
    window.setTimeout = later;
  }
}

function stop(parentElement) {
  clearTimeout(waiting.get(parentElement)?.timer);
  waiting.delete(parentElement);
  watching.delete(parentElement);
}
