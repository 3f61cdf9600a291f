"use strict";
// Charts are complete without this script: it adds reading a row and zooming in.
document.querySelectorAll(".plot").forEach((plot) => {
  const canvas = plot.querySelector(".canvas");
  const svg = canvas.querySelector("svg");
  const [ring, drag, tip] = ["ring", "drag", "tip"].map((name) => canvas.querySelector("." + name));
  const reset = plot.querySelector("button");
  const spots = JSON.parse(plot.querySelector("script").textContent);
  const zoom = plot.dataset.zoom;
  const whole = { x: 0, y: 0, width: 1000, height: 1000 };
  let view = whole;
  let start = null;

  const inCanvas = (event) => {
    const box = canvas.getBoundingClientRect();
    const clamp = (value) => Math.min(1, Math.max(0, value));
    return [clamp((event.clientX - box.left) / box.width), clamp((event.clientY - box.top) / box.height)];
  };

  const nearest = ([left, top]) => {
    const box = canvas.getBoundingClientRect();
    let best = null;
    for (const [x, y, words] of spots) {
      const spot = { left: (x - view.x) / view.width, top: (y - view.y) / view.height, words };
      const away = Math.hypot((spot.left - left) * box.width, zoom === "xy" ? (spot.top - top) * box.height : 0);
      const visible = spot.left >= 0 && spot.left <= 1 && spot.top >= 0 && spot.top <= 1;
      if (visible && (best === null || away < best.away)) best = Object.assign(spot, { away });
    }
    return best;
  };

  const hide = () => { ring.hidden = tip.hidden = true; };

  const show = (event) => {
    const spot = nearest(inCanvas(event));
    if (spot === null) return hide();
    ring.hidden = tip.hidden = false;
    tip.textContent = spot.words;
    for (const each of [ring, tip]) { each.style.left = 100 * spot.left + "%"; each.style.top = 100 * spot.top + "%"; }
    const far = spot.left > 0.5 ? "calc(-100% - 14px)" : "14px";
    tip.style.transform = `translate(${far}, ${spot.top > 0.5 ? "-100%" : "0"})`;
  };

  const ticks = (low, high) => {
    const power = 10 ** Math.floor(Math.log10((high - low) / 5));
    const step = power * [1, 2, 5, 10].find((digit) => power * digit >= (high - low) / 5 * (1 - 1e-9));
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  };

  const rename = (axis, side, [low, high], marks) => {
    axis.replaceChildren(...ticks(low, high).map((value) => {
      const tick = document.createElement(marks ? "i" : "span");
      tick.style[side] = 100 * (value - low) / (high - low) + "%";
      if (!marks) tick.textContent = value.toLocaleString("en", { maximumSignificantDigits: 6 });
      return tick;
    }));
  };

  const apply = (wanted) => {
    view = wanted;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    reset.hidden = view === whole;
    hide();
    if (!plot.dataset.x) return;
    const [x, y] = [plot.dataset.x, plot.dataset.y].map((ends) => ends.split(" ").map(Number));
    const part = ([low, high], from, size) => [low + (high - low) * from / 1000, low + (high - low) * (from + size) / 1000];
    const shownY = part(y, 1000 - view.y - view.height, view.height);
    rename(plot.querySelector(".x-axis"), "left", part(x, view.x, view.width), false);
    rename(plot.querySelector(".y-axis"), "bottom", shownY, false);
    rename(plot.querySelector(".grid"), "bottom", shownY, true);
  };

  const selection = (event) => {
    const [[x0, y0], [x1, y1]] = [start, inCanvas(event)];
    const box = { left: Math.min(x0, x1), width: Math.abs(x0 - x1), top: 0, height: 1 };
    if (zoom === "xy") Object.assign(box, { top: Math.min(y0, y1), height: Math.abs(y0 - y1) });
    return box;
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (!zoom || event.pointerType !== "mouse" || event.button !== 0) return;
    event.preventDefault();
    start = inCanvas(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (start === null) return show(event);
    hide();
    const box = selection(event);
    drag.hidden = false;
    for (const side in box) drag.style[side] = 100 * box[side] + "%";
  });
  canvas.addEventListener("pointerup", (event) => {
    if (start === null) return show(event);
    const box = selection(event);
    start = null;
    drag.hidden = true;
    if (box.width < 0.01 || box.height < 0.01) return show(event);
    apply({
      x: view.x + box.left * view.width, y: view.y + box.top * view.height,
      width: box.width * view.width, height: box.height * view.height,
    });
  });
  canvas.addEventListener("pointercancel", () => { start = null; drag.hidden = true; });
  canvas.addEventListener("pointerleave", () => { if (start === null) hide(); });
  canvas.addEventListener("dblclick", () => apply(whole));
  reset.addEventListener("click", () => apply(whole));
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
