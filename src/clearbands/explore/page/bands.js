// The band of a row along one column: the center, the noise next to it, the ignorance beyond.

import { svg } from "./dom.js";
import { drawHeights, drawPlaces, frame, roomForHeights, scale } from "./axes.js";
import { isChoice, show } from "./values.js";

const MARGIN = { top: 14, right: 14, bottom: 40 };

// `places` are where `bands` was computed; `here` is the band of the row itself, at `place`.
export function drawBand({ control, places, bands, here, place, heights, width, height, choose }) {
  const picture = frame(width, height, `Band along ${control.name}`);
  const left = roomForHeights(heights);
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const y = scale(heights, [bottom, MARGIN.top]);
  drawHeights(picture, y, heights, left, right);
  const drawn = { picture, control, places, bands, here, place, y, left, right, bottom, choose };
  if (isChoice(control)) drawChoices(drawn);
  else drawLine(drawn);
  return picture;
}

function drawLine({ picture, control, places, bands, here, place, y, left, right, bottom, choose }) {
  const range = [places[0], places.at(-1)];
  const x = scale(range, [left, right]);
  const layer = (name, lower, upper) => {
    if (lower.includes(null) || upper.includes(null)) return;
    const there = places.map((p, i) => `${x(p)},${y(upper[i])}`);
    const back = places.map((p, i) => `${x(p)},${y(lower[i])}`).reverse();
    picture.append(svg("polygon", { class: name, points: [...there, ...back].join(" ") }));
  };
  layer("epistemic", bands.lower, bands.upper);
  layer("aleatoric", bands.inner_lower, bands.inner_upper);
  const line = places.map((p, i) => `${x(p)},${y(bands.center[i])}`).join(" ");
  picture.append(svg("polyline", { class: "center", points: line }));
  for (const mark of control.marks) {
    picture.append(svg("line", { class: "mark", x1: x(mark), x2: x(mark), y1: bottom, y2: bottom + 7 }));
  }
  drawPlaces(picture, x, control, range, bottom + 26);
  if (place != null) drawHere(picture, x(place), here, y, bottom);
  if (range[0] === range[1]) return;
  const follow = (event) => {
    const box = picture.getBoundingClientRect();
    const pixel = ((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
    choose(Math.min(range[1], Math.max(range[0], x.invert(pixel))));
  };
  picture.addEventListener("pointerdown", (event) => {
    follow(event);
    const end = () => window.removeEventListener("pointermove", follow);
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end, { once: true });
    window.addEventListener("pointercancel", end, { once: true });
  });
}

function drawHere(picture, pixel, here, y, bottom) {
  picture.append(
    svg("line", { class: "here", x1: pixel, x2: pixel, y1: MARGIN.top, y2: bottom }),
    svg("circle", { class: "dot", cx: pixel, cy: y(here.center[0]), r: 5 }),
  );
}

function drawChoices({ picture, places, bands, place, y, left, right, bottom, choose }) {
  const step = (right - left) / places.length;
  const wide = Math.min(56, step * 0.7);
  places.forEach((choice, i) => {
    const middle = left + (i + 0.5) * step;
    const group = svg("g", { class: choice === place ? "choice" : "choice faded" });
    const bar = (name, lower, upper) => {
      if (lower[i] == null || upper[i] == null) return;
      const top = y(upper[i]);
      group.append(
        svg("rect", { class: name, x: middle - wide / 2, width: wide, y: top, height: y(lower[i]) - top }),
      );
    };
    bar("epistemic", bands.lower, bands.upper);
    bar("aleatoric", bands.inner_lower, bands.inner_upper);
    const at = y(bands.center[i]);
    group.append(svg("line", { class: "center", x1: middle - wide / 2, x2: middle + wide / 2, y1: at, y2: at }));
    group.append(choiceLabel(String(choice), middle, bottom + 18, step, choice === place));
    group.append(svg("title", {}, `${choice}: ${show(bands.center[i])}`));
    group.addEventListener("click", () => choose(choice));
    picture.append(group);
  });
}

// Aslant where there is no room, and cut where even that is too long.
function choiceLabel(text, x, y, step, isHere) {
  const fits = text.length * 7 < step;
  const short = fits || text.length <= 8 ? text : `${text.slice(0, 7)}…`;
  const place = fits ? { "text-anchor": "middle" } : { "text-anchor": "end", transform: `rotate(-35 ${x} ${y})` };
  return svg("text", { x, y, class: isHere ? "strong" : "", ...place }, short);
}
