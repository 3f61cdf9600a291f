// The state of the page, and the parts that are told when it changes.

import { $, html } from "./dom.js";
import { spread, withoutOutliers } from "./axes.js";
import { drawBand } from "./bands.js";
import { makeControls } from "./controls.js";
import { drawScatter, fillList, fillSummary } from "./rows.js";
import { chanceName, isChoice, levelName, percent, placeOf, show, showLower, valueAt, withUnit } from "./values.js";
import "./tips.js";
import { makeUpload } from "./upload.js";
import { explain } from "./why.js";

const scene = await (await fetch("start")).json();
const typical = () => ({ ...scene.rows[scene.first] });
const state = { j: 0, column: scene.column, row: typical(), chosen: null, model: 0, answer: null, whole: false, above: null, fan: false };

// The control of the column that is shown: another column may be asked for already.
const control = () => scene.controls.find((c) => c.name === state.answer.column);
const showControls = makeControls(scene.controls, moveValue);

async function ask(path, body) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail);
  return said;
}

// At most one question is under way; the last state of the sliders is always asked for.
let underway = false;
let again = false;
async function refresh() {
  showControls(state.row, state.column);
  if (underway) {
    again = true;
    return;
  }
  underway = true;
  try {
    do {
      again = false;
      const { row, column, whole, above } = state;
      state.answer = { row, ...(await ask("along", { row, column, whole, above })) };
    } while (again);
    $("problem").hidden = true;
    drawBands();
  } catch (error) {
    $("problem").textContent = error.message;
    $("problem").hidden = false;
  } finally {
    underway = false;
  }
}

function moveValue(name, value) {
  state.row = { ...state.row, [name]: value };
  state.column = name;
  $("column").value = name;
  refresh();
}

function choosePlace(place) {
  const here = control();
  const rounded = here.is_whole ? Math.round(place) : place;
  moveValue(here.name, isChoice(here) ? place : valueAt(here, rounded));
}

// Heights that hold nearly all rows and this band, and so stay put while sliders move. Where the
// band of a few places is far wider than all others it is cut, unless the whole is asked for.
function heights() {
  const values = (bands) => bands.flatMap((b) => [...b.lower, ...b.upper, ...b.prediction]);
  const all = values(scene.models.map((model) => model.bands[state.j]));
  const drawn = (model) => (state.fan && model.fan.length > 0 ? [{ ...model.fan[0], prediction: [] }] : [model.bands[state.j]]);
  const own = values(state.answer.models.flatMap(drawn));
  const here = values(state.answer.models.map((model) => model.here[state.j]));
  const range = state.whole ? spread(own) : withoutOutliers(own);
  const asked = state.answer.above == null ? [] : [state.answer.above];
  const [low, high] = spread([...spread(all, 0.02), ...range, ...here, ...asked]);
  const [lowest, highest] = spread(own);
  const room = 0.04 * (high - low) || 1;
  return { range: [low - room, high + room], isCut: lowest < low || highest > high };
}

// A window can be squeezed to nothing for a moment, a plot cannot.
const roomIn = (holder) => Math.max(240, holder.clientWidth);

function drawBands() {
  const holder = $("bands");
  const several = scene.models.length > 1;
  const figures = scene.models.map((model) => html("figure", {}, ...(several ? [html("figcaption", {}, model.name)] : [])));
  holder.replaceChildren(...figures);
  nameLayers();
  const { range, isCut } = heights();
  const { kind, low, near_low, high, near_high } = control();
  const hasOutliers = kind !== "text" && kind !== "boolean" && (low < near_low || near_high < high);
  $("range").hidden = !(state.whole || isCut || hasOutliers);
  figures.forEach((figure, m) => {
    const width = roomIn(figure);
    const { bands, here, fan } = state.answer.models[m];
    figure.append(drawBand({
      control: control(),
      places: state.answer.places,
      fan: state.fan ? fan : null,
      above: state.answer.above,
      bands: bands[state.j],
      here: here[state.j],
      place: placeOf(control(), state.answer.row[control().name]),
      heights: range,
      width,
      height: Math.min(430, Math.max(250, width * 0.7)),
      choose: choosePlace,
      label: scene.unit ? `${scene.target} (${scene.unit})` : scene.target,
    }));
  });
  $("reading").replaceChildren(...state.answer.models.map((model, m) => {
    const here = model.here[state.j];
    const name = several ? `${scene.models[m].name}: ` : "";
    const words = `, between ${showLower(here.lower[0])} and ${show(here.upper[0])} at ${levelName(scene.levels[state.j])}; `
      + `${percent(1 - here.epistemic_share[0])} noise, ${percent(here.epistemic_share[0])} ignorance.`;
    const chance = model.chance == null ? "" : ` The chance to exceed ${show(state.answer.above)} is ${chanceName(model.chance)}.`;
    const way = scene.models[m].directions[state.answer.column];
    const told = way ? ` The model was told that it ${way > 0 ? "rises" : "falls"} with ${state.answer.column}.` : "";
    return html("p", {}, name, html("strong", {}, withUnit(here.prediction[0], scene.unit)), words, chance, told);
  }));
}

// The legend names what is drawn.
function nameLayers() {
  for (const item of document.querySelectorAll(".of-parts")) item.hidden = state.fan;
  document.querySelectorAll(".of-fan").forEach((item) => item.remove());
  if (!state.fan) return;
  const [{ fan }] = state.answer.models;
  const items = fan.map(({ level }, i) => html("li", { class: "of-fan" }, html("i", { class: `key fan-${i}` }), levelName(level)));
  $("legend").firstElementChild.after(...items);
}

function drawRows() {
  const bands = scene.models[state.model].bands[state.j];
  const size = roomIn($("scatter"));
  $("scatter").replaceChildren(drawScatter({ bands, numbers: scene.numbers, chosen: state.chosen, size, choose: chooseRow }));
  fillList({ bands, numbers: scene.numbers, truth: scene.truth, order: $("order").value, chosen: state.chosen, choose: chooseRow });
  fillSummary({ models: scene.models, level: scene.levels[state.j], j: state.j, truth: scene.truth, unit: scene.unit });
  drawWhy();
}

function drawWhy() {
  if (state.chosen == null || state.changes == null) return;
  const model = state.changes[state.model];
  $("why").replaceChildren(...explain({
    number: scene.numbers[state.chosen],
    i: state.chosen,
    bands: scene.models[state.model].bands[state.j],
    level: scene.levels[state.j],
    changes: model.levels[state.j],
    controls: scene.controls,
    truth: scene.truth,
    unit: scene.unit,
  }));
}

async function chooseRow(i) {
  state.chosen = i;
  state.changes = null;
  state.row = { ...scene.rows[i] };
  $("row-name").textContent = `Row ${scene.numbers[i]}`;
  refresh();
  const changes = (await ask("why", { row: scene.rows[i] })).models;
  if (state.chosen !== i) return;
  state.changes = changes;
  drawRows();
}

function reset() {
  state.row = typical();
  state.chosen = null;
  state.changes = null;
  $("row-name").textContent = "A typical row";
  $("why").replaceChildren();
  drawRows();
  refresh();
}

function start() {
  const names = scene.models.map((model) => model.name).join(" and ");
  document.title = `${names} · clearbands`;
  $("names").textContent = names;
  const counted = scene.rows.length.toLocaleString("en-GB");
  const all = scene.n_rows.toLocaleString("en-GB");
  const rows = scene.rows.length === scene.n_rows ? `${all} rows` : `${counted} of ${all} rows, evenly taken`;
  const about = scene.target ? `Intervals for ${scene.target}. ` : "";
  $("about").textContent = `${about}${rows}, ${scene.controls.length} columns. Nothing leaves this machine.`;
  scene.levels.forEach((level, j) => {
    const input = html("input", { type: "radio", name: "level", value: j, checked: j === 0 });
    input.addEventListener("change", () => {
      state.j = j;
      drawBands();
      drawRows();
    });
    $("levels").append(html("label", {}, input, levelName(level)));
  });
  $("column").append(...scene.controls.map((c) => html("option", { value: c.name }, c.name)));
  $("column").value = scene.column;
  $("column").addEventListener("change", () => {
    state.column = $("column").value;
    refresh();
  });
  $("whole").addEventListener("change", () => {
    state.whole = $("whole").checked;
    refresh();
  });
  $("above").addEventListener("input", () => {
    const value = $("above").value;
    state.above = value === "" || !Number.isFinite(Number(value)) ? null : Number(value);
    refresh();
  });
  $("shown").addEventListener("change", () => {
    state.fan = $("shown").value === "fan";
    drawBands();
  });
  $("model").append(...scene.models.map((model, m) => html("option", { value: m }, model.name)));
  const several = scene.models.length > 1;
  const more = scene.models.filter((model) => model.more_rows);
  $("more").hidden = more.length === 0;
  $("more").textContent = more.map((m) => `${several ? `${m.name}: ` : ""}${m.more_rows}`).join(" ");
  $("seen").hidden = scene.truth == null;
  if (scene.n_seen > 0.05 * scene.n_rows) {
    const which = scene.n_seen === scene.n_rows ? "all" : `${scene.n_seen.toLocaleString("en-GB")} of`;
    $("seen").className = "problem";
    $("seen").textContent = `The model was fitted on ${which} ${all} rows: how many true values lie inside says nothing about new rows.`;
  }
  $("which").hidden = !several;
  $("model").addEventListener("change", () => {
    state.model = Number($("model").value);
    drawRows();
  });
  $("order").addEventListener("change", drawRows);
  $("reset").addEventListener("click", reset);
  makeUpload(scene.models);
  document.querySelector("main").hidden = false;
  drawRows();
  refresh();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width || !state.answer) return;
    width = window.innerWidth;
    drawBands();
    drawRows();
  });
}

start();
