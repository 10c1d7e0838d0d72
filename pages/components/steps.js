// The keys PageUp and PageDown, which a presenter's remote sends too, press the buttons that lead a step back and on.

const BUTTONS = { PageUp: ".st-key-lesson_back button", PageDown: ".st-key-lesson_next button" };
let mounted = 0;

document.addEventListener("keydown", (event) => {
  if (!mounted || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const button = BUTTONS[event.key] && document.querySelector(BUTTONS[event.key]);
  if (!button) return;
  event.preventDefault();
  button.click();
});

export default function () {
  mounted += 1;
  return () => {
    mounted -= 1;
  };
}
