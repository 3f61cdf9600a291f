// A slider or a list for every column.

import { $, breakable, html } from "./dom.js";
import { isChoice, isMoment, placeOf, showValue, valueAt } from "./values.js";

const STEPS = 200;

// `changed(name, value)` is called when a value is moved. The function returned shows a row.
export function makeControls(controls, changed) {
  const made = controls.map((control) => {
    const parts = isChoice(control) ? choiceOf(control, changed) : sliderOf(control, changed);
    $("sliders").append(parts.element);
    return [control.name, parts];
  });
  let isOpen = false;
  return (row, active) => {
    for (const [name, parts] of made) {
      parts.show(row[name]);
      const isNew = name === active && !parts.element.classList.contains("active");
      parts.element.classList.toggle("active", name === active);
      if (isNew && !isOpen) $("sliders").prepend(parts.element); // the page opens with it on top
      else if (isNew) bringIntoSight(parts.element);
    }
    isOpen = true;
  };
}

// Scrolls the list alone: the page itself stays where it is.
function bringIntoSight(element) {
  const list = $("sliders");
  const top = element.offsetTop - list.offsetTop;
  const isInSight = top >= list.scrollTop && top + element.offsetHeight <= list.scrollTop + list.clientHeight;
  if (!isInSight) list.scrollTop = top;
}

function choiceOf(control, changed) {
  const id = `control-${control.name}`;
  const select = html("select", { id, "data-column": control.name });
  const options = control.has_gaps ? [...control.choices, null] : [...control.choices];
  const fill = () => {
    select.replaceChildren(
      ...options.map((value, i) => html("option", { value: i }, showValue(control, value))),
    );
  };
  fill();
  select.addEventListener("change", () => changed(control.name, options[Number(select.value)]));
  const show = (value) => {
    if (!options.includes(value)) {
      options.push(value);
      fill();
    }
    select.value = String(options.indexOf(value));
  };
  const label = html("label", { class: "name", for: id }, ...breakable(control.name));
  const heading = html("div", { class: "heading" }, label, select);
  return { element: html("div", { class: "control" }, heading), show };
}

function sliderOf(control, changed) {
  const id = `control-${control.name}`;
  // Outliers would leave no room for all others; they can be typed. Moments cannot.
  const [low, high] = isMoment(control) ? [control.low, control.high] : [control.near_low, control.near_high];
  const span = high - low;
  const step = control.is_whole ? 1 : control.kind === "date" ? 86400 : span / STEPS || 1;
  const slider = html("input", {
    type: "range", id, min: low, max: high, step, "data-column": control.name,
  });
  const exact = isMoment(control)
    ? html("output", { for: id })
    : html("input", { type: "number", step: "any", "aria-label": `${control.name}, exactly` });
  const missing = html("input", { type: "checkbox" });
  const gaps = html("label", { class: "missing", hidden: !control.has_gaps }, missing, " missing");

  slider.addEventListener("input", () => changed(control.name, valueAt(control, Number(slider.value))));
  exact.addEventListener("change", () => {
    if (exact.value !== "" && Number.isFinite(Number(exact.value))) changed(control.name, Number(exact.value));
  });
  missing.addEventListener("change", () => {
    changed(control.name, missing.checked ? null : control.typical);
  });
  const show = (value) => {
    missing.checked = value == null;
    if (value == null) {
      exact.value = "";
      return;
    }
    slider.value = placeOf(control, value);
    if (document.activeElement !== exact) {
      exact.value = isMoment(control) ? showValue(control, value) : Number(value.toPrecision(6));
    }
  };
  const label = html("label", { class: "name", for: id }, ...breakable(control.name));
  const heading = html("div", { class: "heading" }, label, gaps, exact);
  return { element: html("div", { class: "control" }, heading, slider), show };
}
