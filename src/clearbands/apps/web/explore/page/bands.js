// The band of a row along one column: the center, the noise next to it, the ignorance beyond.

import { svg } from "./dom.js";
import { drawHeights, drawPlaces, frame, roomForHeights, scale } from "./axes.js";
import { isChoice, show, showLower } from "./values.js";

const MARGIN = { top: 24, right: 14, bottom: 40 }; // above it, what is predicted
const LETTER = 7; // pixels, about
const SLANTED = 20; // pixels from one slanted label to the next
const LONGEST = 10; // letters of a slanted label

// `places` are where `bands` was computed; `here` is the band of the row itself, at `place`. With a
// `fan`, its levels are drawn within each other instead of the two parts; `above` is a line across.
export function drawBand({ control, places, bands, fan, above, here, place, heights, width, height, choose, label }) {
  const picture = frame(width, height, `Band along ${control.name}`);
  const left = roomForHeights(heights);
  const right = width - MARGIN.right;
  const isSlanted = isChoice(control) && !labelsFit(places, (right - left) / places.length);
  const bottom = height - MARGIN.bottom - (isSlanted ? 24 : 0);
  const y = scale(heights, [bottom, MARGIN.top]);
  drawHeights(picture, y, heights, left, right);
  if (label) picture.append(svg("text", { class: "label", x: 4, y: 12 }, label));
  const plot = clipped(picture, left, right, bottom);
  const layers = fan?.length > 0
    ? fan.map(({ lower, upper }, i) => [`fan-${i}`, lower, upper])
    : [["epistemic", bands.lower, bands.upper], ["aleatoric", bands.inner_lower, bands.inner_upper]];
  const drawn = { picture, plot, control, places, bands, layers, here, place, y, left, right, bottom, choose, isSlanted };
  if (isChoice(control)) drawChoices(drawn);
  else drawLine(drawn);
  if (above != null) picture.append(svg("line", { class: "above", x1: left, x2: right, y1: y(above), y2: y(above) }));
  return picture;
}

// A group that is cut at the edges of the plot: not all heights need be shown.
let clips = 0;
function clipped(picture, left, right, bottom) {
  const id = `clip-${++clips}`;
  const area = svg("rect", { x: left, width: right - left, y: 0, height: bottom });
  const group = svg("g", { "clip-path": `url(#${id})` });
  picture.append(svg("clipPath", { id }, area), group);
  return group;
}

function drawLine({ picture, plot, control, places, bands, layers, here, place, y, left, right, bottom, choose }) {
  const range = [places[0], places.at(-1)];
  const x = scale(range, [left, right]);
  const layer = (name, lower, upper) => {
    if (lower.includes(null) || upper.includes(null)) return;
    const there = places.map((p, i) => `${x(p)},${y(upper[i])}`);
    const back = places.map((p, i) => `${x(p)},${y(lower[i])}`).reverse();
    plot.append(svg("polygon", { class: name, points: [...there, ...back].join(" ") }));
  };
  for (const each of layers) layer(...each);
  const line = places.map((p, i) => `${x(p)},${y(bands.prediction[i])}`).join(" ");
  plot.append(svg("polyline", { class: "center", points: line }));
  for (const mark of control.marks.filter((m) => range[0] <= m && m <= range[1])) {
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
    svg("circle", { class: "dot", cx: pixel, cy: y(here.prediction[0]), r: 5 }),
  );
}

function drawChoices({ picture, plot, places, bands, layers, place, y, left, right, bottom, choose, isSlanted }) {
  const step = (right - left) / places.length;
  const wide = Math.min(56, step * 0.7);
  const isLabelled = isSlanted ? thinned(places.indexOf(place), step) : () => true;
  places.forEach((choice, i) => {
    const middle = left + (i + 0.5) * step;
    const bounds = bands.lower[i] == null ? "" : `, between ${showLower(bands.lower[i])} and ${show(bands.upper[i])}`;
    const tip = `${choice}: ${show(bands.prediction[i])}${bounds}`;
    const name = choice === place ? "choice" : "choice faded";
    const group = svg("g", { class: name, "data-tip": tip });
    const bar = (part, lower, upper) => {
      if (lower[i] == null || upper[i] == null) return;
      const top = y(upper[i]);
      group.append(
        svg("rect", { class: part, x: middle - wide / 2, width: wide, y: top, height: y(lower[i]) - top }),
      );
    };
    for (const each of layers) bar(...each);
    const at = y(bands.prediction[i]);
    group.append(svg("line", { class: "center", x1: middle - wide / 2, x2: middle + wide / 2, y1: at, y2: at }));
    plot.append(group);
    const chooseIt = () => choose(choice);
    group.addEventListener("click", chooseIt);
    if (!isLabelled(i)) return;
    const label = svg("g", { class: name, "data-tip": tip }, choiceLabel(String(choice), middle, bottom + 18, isSlanted, choice === place));
    label.addEventListener("click", chooseIt);
    picture.append(label);
  });
}

const labelsFit = (places, step) => places.every((choice) => String(choice).length * LETTER < step);

// Which choices are labelled where there is no room for all: every second, third ... counted from
// the chosen one, so that this one always is.
function thinned(chosen, step) {
  const every = Math.max(1, Math.ceil(SLANTED / step));
  return (i) => (i - Math.max(0, chosen)) % every === 0;
}

function choiceLabel(text, x, y, isSlanted, isHere) {
  // In the middle: names that begin alike mostly end differently.
  const short = !isSlanted || text.length <= LONGEST ? text : `${text.slice(0, 5)}…${text.slice(5 - LONGEST)}`;
  const place = isSlanted
    ? { "text-anchor": "end", transform: `rotate(-35 ${x} ${y})` }
    : { "text-anchor": "middle" };
  return svg("text", { x, y, class: isHere ? "strong" : "", ...place }, short);
}
