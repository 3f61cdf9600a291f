// A few words about what is under the pointer. A finger has no pointer that rests, so the words about
// what it touches stay until it touches something else.

import { html } from "./dom.js";

const box = html("div", { class: "tip", role: "status", hidden: true });
document.body.append(box);

const told = (event) => event.target.closest?.("[data-tip]");

function tell(element, event) {
  box.textContent = element.dataset.tip;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(Math.max(8, event.clientX - width / 2), window.innerWidth - width - 8);
  const above = event.clientY - height - 16;
  box.style.left = `${left}px`;
  box.style.top = `${above > 8 ? above : event.clientY + 24}px`;
}

function hide() {
  box.hidden = true;
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const element = told(event);
  if (element) tell(element, event);
  else hide();
});
// A click follows when a finger has touched and left, but not when it has scrolled.
document.addEventListener("click", (event) => {
  const element = told(event);
  if (element) tell(element, event);
  else hide();
}, true);
window.addEventListener("scroll", hide, { passive: true });
