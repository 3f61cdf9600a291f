// The rows of the table: a picture of their two uncertainties, a list, a summary.

import { $, html, svg } from "./dom.js";
import { drawHeights, frame, roomForHeights, scale, spread, ticks } from "./axes.js";
import { levelName, percent, show, showLower, withUnit } from "./values.js";

const MARGIN = { top: 26, right: 14, bottom: 46 };
const LISTED = 200;
const REACH = 24; // pixels from a point at which a click still means it

const width = (bands, i) => {
  const [a, e] = [bands.aleatoric[i], bands.epistemic[i]];
  return a == null || e == null ? Infinity : a + e;
};

// The largest value or, where a few are far larger than all others, that of the lowest 99 %.
function reach(values) {
  const [, common] = spread(values, 0.01);
  const largest = Math.max(...values);
  return 1.05 * (2 * common < largest ? common : largest) || 1;
}

function tipOf(bands, numbers, i) {
  const [noise, ignorance] = [bands.aleatoric[i], bands.epistemic[i]].map(show);
  return `Row ${numbers[i]}: ${show(bands.prediction[i])}, noise ${noise}, ignorance ${ignorance}`;
}

export function drawScatter({ bands, numbers, chosen, size, choose }) {
  const finite = bands.prediction.map((_, i) => i).filter((i) => Number.isFinite(width(bands, i)));
  if (finite.length === 0) return html("p", {}, "All intervals are infinite at this level.");
  const [across, up] = ["aleatoric", "epistemic"].map((name) => reach(finite.map((i) => bands[name][i])));
  const left = roomForHeights([0, up]);
  const height = Math.min(400, Math.max(260, size * 0.7));
  const picture = frame(size, height, "Ignorance against noise, a point for every row");
  const [right, bottom] = [size - MARGIN.right, height - MARGIN.bottom];
  const x = scale([0, across], [left, right]);
  const y = scale([0, up], [bottom, MARGIN.top]);
  drawHeights(picture, y, [0, up], left, right);
  for (const tick of ticks(0, across, Math.max(2, Math.floor(size / 110)))) {
    const anchor = x(tick) > right - 16 ? "end" : "middle";
    picture.append(svg("text", { x: x(tick), y: bottom + 18, "text-anchor": anchor }, show(tick)));
  }
  const end = Math.min(across, up);
  const placeOf = (i) => [x(Math.min(across, bands.aleatoric[i])), y(Math.min(up, bands.epistemic[i]))];
  const beyond = finite.some((i) => bands.aleatoric[i] > across || bands.epistemic[i] > up);
  picture.append(
    svg("line", { class: "here", x1: x(0), y1: y(0), x2: x(end), y2: y(end) }),
    svg("text", { x: 4, y: 12 }, "↑ Width by ignorance"),
    svg("text", { x: right, y: bottom + 38, "text-anchor": "end" }, "Dashed: both alike. Width by noise →"),
    ...(beyond ? [svg("text", { x: right, y: 12, "text-anchor": "end" }, size < 480 ? "edge: further out" : "Points on the edge lie beyond it")] : []),
  );
  for (const i of finite) {
    const name = bands.epistemic[i] > bands.aleatoric[i] ? "epistemic" : "aleatoric";
    const [cx, cy] = placeOf(i);
    picture.append(svg("circle", { class: `point ${name}`, cx, cy, r: 5, "data-row": i, "data-tip": tipOf(bands, numbers, i) }));
  }
  if (finite.includes(chosen)) {
    const [cx, cy] = placeOf(chosen);
    picture.append(svg("circle", { class: "chosen", cx, cy, r: 8 }));
  }
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const zoom = size / box.width;
    const [px, py] = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
    const distance = (i) => Math.hypot(placeOf(i)[0] - px, placeOf(i)[1] - py);
    const nearest = finite.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    if (distance(nearest) <= REACH) choose(nearest);
  });
  return picture;
}

export function fillList({ bands, numbers, truth, order, chosen, choose }) {
  const indices = numbers.map((_, i) => i);
  const key = { width: (i) => -width(bands, i), epistemic: (i) => -bands.epistemic[i], aleatoric: (i) => -bands.aleatoric[i] }[order];
  if (key) indices.sort((a, b) => key(a) - key(b));
  const listed = indices.slice(0, LISTED);
  const widest = Math.max(...listed.map((i) => width(bands, i)).filter(Number.isFinite), 0) || 1;
  const names = ["Row", "Prediction", "Interval", ...(truth ? ["Truth"] : []), "Noise, ignorance"];
  const head = headOf(names);
  head.querySelectorAll("th")[2].className = "bounds";
  const body = html("tbody");
  for (const i of listed) {
    const cells = [
      html("td", {}, html("button", { type: "button", "aria-label": `Row ${numbers[i]}` }, String(numbers[i]))),
      html("td", {}, show(bands.prediction[i])),
      html("td", { class: "bounds" }, `${showLower(bands.lower[i])} to ${show(bands.upper[i])}`),
      ...(truth ? [truthCell(truth[i], bands, i)] : []),
      html("td", {}, stack(bands.aleatoric[i], bands.epistemic[i], widest)),
    ];
    body.append(html("tr", { class: i === chosen ? "chosen" : "", "data-row": i, onclick: () => choose(i) }, ...cells));
  }
  $("table").replaceChildren(head, body);
}

function isInside(value, bands, i) {
  return (bands.lower[i] ?? -Infinity) <= value && value <= (bands.upper[i] ?? Infinity);
}

function truthCell(value, bands, i) {
  const inside = isInside(value, bands, i);
  return html("td", inside ? {} : { class: "outside", "data-tip": "outside its interval" }, show(value));
}

function stack(aleatoric, epistemic, widest) {
  const bar = html("span", { class: "stack" });
  for (const [name, value] of [["aleatoric", aleatoric], ["epistemic", epistemic]]) {
    const part = html("i", { class: name });
    part.style.width = value == null ? "50%" : `${(100 * value) / widest}%`;
    bar.append(part);
  }
  return bar;
}

export function fillSummary({ models, level, j, truth, unit }) {
  const names = ["Model", "Typical width", "Ignorance in the mean width", ...(truth ? ["True values inside"] : []), "Promised"];
  const body = html("tbody");
  for (const model of models) {
    const bands = model.bands[j];
    const inside = truth ? truth.filter((value, i) => isInside(value, bands, i)).length : 0;
    const typical = median(bands.prediction.map((_, i) => width(bands, i)));
    const cells = [
      model.name,
      withUnit(Number.isFinite(typical) ? typical : null, unit),
      percent(bands.mean_share),
      ...(truth ? [`${percent(inside / truth.length, 1)} of ${truth.length}`] : []),
      `${levelName(level)}, ${model.guarantee}`,
    ];
    body.append(html("tr", {}, ...cells.map((text, c) => html("td", { "data-name": names[c] }, text))));
  }
  $("summary").replaceChildren(headOf(names), body);
}

function headOf(names) {
  return html("thead", {}, html("tr", {}, ...names.map((name) => html("th", { scope: "col" }, name))));
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

// The share of rows whose interval is narrower than this one.
export function narrower(bands, i) {
  const own = width(bands, i);
  return bands.prediction.filter((_, k) => width(bands, k) < own).length / bands.prediction.length;
}
