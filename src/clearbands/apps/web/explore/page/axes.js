// Scales, grid lines and labels that pictures share.

import { svg } from "./dom.js";
import { show, showPlace, isMoment } from "./values.js";

export function scale([low, high], [from, to]) {
  const span = high - low || 1;
  const place = (value) => from + ((value - low) / span) * (to - from);
  place.invert = (pixel) => low + ((pixel - from) / (to - from)) * span;
  return place;
}

// About six round numbers between low and high.
export function ticks(low, high, count = 6) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
  return found;
}

export function spread(values, share = 0) {
  const sorted = values.filter((value) => value != null).sort((a, b) => a - b);
  const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
  return [at(share), at(1 - share)];
}

// The lowest and the highest value; if a few lie far outside, the range of 90 % of them.
export function withoutOutliers(values) {
  const [[low, high], [nearLow, nearHigh]] = [spread(values), spread(values, 0.05)];
  return nearLow < nearHigh && high - low > 2 * (nearHigh - nearLow) ? [nearLow, nearHigh] : [low, high];
}

export function frame(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
}

// Room to the left for the longest label of the heights.
export function roomForHeights([low, high]) {
  return 16 + 7 * Math.max(5, ...ticks(low, high).map((tick) => show(tick).length));
}

export function drawHeights(picture, y, [low, high], left, right) {
  for (const tick of ticks(low, high)) {
    picture.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, show(tick)),
    );
  }
}

export function drawPlaces(picture, x, control, [low, high], baseline) {
  const width = x(high) - x(low);
  const count = Math.max(2, Math.floor(width / (isMoment(control) ? 110 : 60)));
  const places = isMoment(control)
    ? Array.from({ length: count }, (_, i) => low + ((i + 0.5) / count) * (high - low))
    : ticks(low, high, count);
  for (const place of places) {
    const label = svg("text", { x: x(place), y: baseline, "text-anchor": "middle" });
    label.append(showPlace(control, place));
    picture.append(label);
  }
}
