// A file to score: it goes to the program on this machine, and the result is there to save.

import { $, html } from "./dom.js";

const PREVIEWED = 5;

export function makeUpload(models) {
  const drop = $("drop");
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) score(file, models);
  });
  $("file").addEventListener("change", () => {
    const [file] = $("file").files;
    if (file) score(file, models);
  });
}

async function score(file, models) {
  $("scored").replaceChildren(html("p", { class: "muted" }, `Scoring ${file.name} …`));
  const results = [];
  for (const [number, model] of models.entries()) results.push(await result(file, model, number, models.length > 1));
  $("scored").replaceChildren(...results);
}

async function result(file, model, number, several) {
  const headers = { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(file.name) };
  let table, mended;
  try {
    const answer = await fetch(`score/${number}`, { method: "POST", body: file, headers });
    if (!answer.ok) throw new Error((await answer.json()).detail);
    table = await answer.text();
    mended = JSON.parse(answer.headers.get("x-mended") ?? "[]");
  } catch (error) {
    return html("p", { class: "problem" }, `${model.name}: ${error.message}`);
  }
  const lines = table.trimEnd().split("\n");
  const stem = (name) => name.replace(/\.[^.]*$/, "");
  const download = `${stem(file.name)}-${several ? stem(model.name) : "intervals"}.csv`;
  const link = html("a", { href: URL.createObjectURL(new Blob([table], { type: "text/csv" })), download }, `Save ${download}`);
  const cells = (line, tag) => line.split(",").map((text) => html(tag, {}, shorten(text)));
  const preview = html("table", {},
    html("thead", {}, html("tr", {}, ...cells(lines[0], "th"))),
    html("tbody", {}, ...lines.slice(1, 1 + PREVIEWED).map((line) => html("tr", {}, ...cells(line, "td")))),
  );
  const words = html("p", {}, `${lines.length - 1} rows scored with ${model.name}. `, link);
  const told = mended.map((text) => html("p", { class: "muted" }, text));
  return html("div", { class: "result" }, words, ...told, html("div", { class: "scroll" }, preview));
}

function shorten(text) {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? String(Number(number.toPrecision(5))) : text;
}
