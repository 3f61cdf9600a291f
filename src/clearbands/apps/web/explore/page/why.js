// Why the interval of one row is wide, in words and column by column.

import { html } from "./dom.js";
import { levelName, percent, show, showLower, showValue, withUnit } from "./values.js";
import { narrower } from "./rows.js";

const NAMED = 6;

export function explain({ number, i, bands, level, changes, controls, truth, unit }) {
  const [lower, upper, center] = [bands.lower[i], bands.upper[i], bands.prediction[i]];
  const known = truth ? ` The true value is ${show(truth[i])}.` : "";
  const parts = [
    html("h3", {}, `Row ${number}`),
    html("p", {}, `${show(center)}, between ${showLower(lower)} and ${show(upper)} at ${levelName(level)}.${known}`),
  ];
  if (lower == null || upper == null) {
    parts.push(html("p", {}, "The interval is infinite: too few rows calibrated this level."));
    return parts;
  }
  const width = bands.aleatoric[i] + bands.epistemic[i];
  const share = bands.epistemic_share[i];
  parts.push(
    html("p", {}, `It is ${withUnit(width, unit)} wide, wider than ${percent(narrower(bands, i))} of the rows here.`),
    html("p", {}, verdict(share, bands.dominant[i])),
  );
  const size = (change) => Math.abs(change.aleatoric + change.epistemic);
  const largest = changes
    .filter((change) => Math.max(Math.abs(change.aleatoric), Math.abs(change.epistemic)) > 1e-9 * width)
    .sort((a, b) => size(b) - size(a))
    .slice(0, NAMED);
  if (largest.length > 0) parts.push(...table(largest, width, controls));
  else parts.push(html("p", {}, "No single value explains it: each is typical, or changes nothing alone."));
  return parts;
}

// As `dominant` of predict_frame: by squares, so that ignorance may dominate with less than half.
function verdict(share, dominant) {
  const parts = `${percent(1 - share)} of that is noise, ${percent(share)} ignorance`;
  if (dominant === "ignorance") {
    return `Ignorance dominates (${parts}): the models disagree here. More rows like this one would help most.`;
  }
  if (dominant === "noise") {
    return `Noise dominates (${parts}): rows like it differ in ways these columns do not show. Better measurements or more columns would help most.`;
  }
  return `Which of the two dominates is unclear (${parts}, by estimate): either may be the larger one.`;
}

function table(changes, width, controls) {
  const kinds = Object.fromEntries(controls.map((control) => [control.name, control]));
  const most = Math.max(...changes.flatMap((c) => [Math.abs(c.aleatoric), Math.abs(c.epistemic)]));
  const body = html("tbody");
  for (const change of changes) {
    const control = kinds[change.column];
    const total = change.aleatoric + change.epistemic;
    const words = `${change.column} is ${showValue(control, change.value)}, typically ${showValue(control, change.typical)}`;
    body.append(
      html("tr", {},
        html("td", {}, words),
        html("td", {}, `${total < 0 ? "−" : "+"}${show(Math.abs(total))}`),
        html("td", {}, bars(change, most)),
      ),
    );
  }
  const head = html("thead", {}, html("tr", {},
    html("th", { scope: "col" }, "One value at a time against the typical one"),
    html("th", { scope: "col" }, "Width"),
    html("th", { scope: "col" }, "Noise, ignorance"),
  ));
  return [html("div", { class: "scroll" }, html("table", {}, head, body))];
}

function bars(change, most) {
  const box = html("span", { class: "change" });
  ["aleatoric", "epistemic"].forEach((name, row) => {
    const bar = html("i", { class: `${name} ${change[name] < 0 ? "less" : "more"}` });
    bar.style.width = `${(100 * Math.abs(change[name])) / most}%`;
    bar.style.gridRow = String(row + 1);
    box.append(bar);
  });
  return box;
}
