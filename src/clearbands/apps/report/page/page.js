"use strict";
// The page is complete without this script, but for the table of all rows: it adds reading a row,
// zooming in, and that table.
document.querySelectorAll(".plot").forEach((plot) => {
  const canvas = plot.querySelector(".canvas");
  const svg = canvas.querySelector("svg");
  const [ring, drag, tip] = ["ring", "drag", "tip"].map((name) => canvas.querySelector("." + name));
  const reset = plot.querySelector("button");
  const tooltips = JSON.parse(plot.querySelector("script").textContent);
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
    for (const [x, y, words] of tooltips) {
      const spot = { left: (x - view.x) / view.width, top: (y - view.y) / view.height, words };
      const away = Math.hypot((spot.left - left) * box.width, zoom === "xy" ? (spot.top - top) * box.height : 0);
      if (zoom === "x") spot.top = Math.min(1, Math.max(0, spot.top)); // beyond the edge: on it
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
    plot.classList.toggle("zoomed", view !== whole);
    hide();
    const [x, y] = [plot.dataset.x, plot.dataset.y].map((ends) => ends && ends.split(" ").map(Number));
    const part = ([low, high], from, size) => [low + (high - low) * from / 1000, low + (high - low) * (from + size) / 1000];
    if (x) rename(plot.querySelector(".x-axis"), "left", part(x, view.x, view.width), false);
    if (!y) return;
    const shownY = part(y, 1000 - view.y - view.height, view.height);
    rename(plot.querySelector(".y-axis"), "bottom", shownY, false);
    rename(plot.querySelector(".grid"), "bottom", shownY, true);
  };

  // Where only the width was chosen, the height is that of the rows in view, outliers and all.
  const fitted = (wanted) => {
    const inView = tooltips.filter(([x]) => x >= wanted.x && x <= wanted.x + wanted.width);
    if (zoom !== "x" || inView.length === 0) return wanted;
    const top = Math.min(...inView.map((spot) => spot[3]));
    const room = 0.04 * (Math.max(...inView.map((spot) => spot[4])) - top) || 1;
    return Object.assign(wanted, { y: top - room, height: Math.max(...inView.map((spot) => spot[4])) - top + 2 * room });
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
    apply(fitted({
      x: view.x + box.left * view.width, y: view.y + box.top * view.height,
      width: box.width * view.width, height: box.height * view.height,
    }));
  });
  canvas.addEventListener("pointercancel", () => { start = null; drag.hidden = true; });
  // A finger that is lifted leaves at once; what it tapped stays until another place is tapped.
  canvas.addEventListener("pointerleave", (event) => { if (start === null && event.pointerType === "mouse") hide(); });
  addEventListener("pointerdown", (event) => { if (!canvas.contains(event.target)) hide(); });
  canvas.addEventListener("dblclick", () => apply(whole));
  reset.addEventListener("click", () => apply(whole));
});

document.querySelectorAll(".all-rows").forEach((place) => {
  const { names, rows, share } = JSON.parse(place.querySelector("script").textContent);
  const [head, body] = ["thead", "tbody"].map((name) => place.querySelector(name));
  const [which, filter, more, status] = ["select", "input", ".more", "[role=status]"].map((name) => place.querySelector(name));
  const [isInside, ofShare, isStrange] = ["inside", /share$/, "unfamiliar"].map((name) => names.findLastIndex((each) => name instanceof RegExp ? name.test(each) : each === name));
  const ours = names.lastIndexOf("prediction"); // ours are this one and all behind it
  const STEP = 25;
  let order = { column: 0, up: true };
  let shown = STEP;

  const isOurs = (column) => column >= ours;
  const words = (value, column) => {
    if (typeof value !== "number") return value;
    if (column === ofShare) return (100 * value).toFixed(0) + " %";
    // Our own numbers look as on the rest of the page, those of the table as they are in it.
    return value.toLocaleString("en", isOurs(column) ? { maximumSignificantDigits: 4 } : { maximumSignificantDigits: Number.isInteger(value) ? 15 : 5, useGrouping: false }).replace("-", "−");
  };

  // "size > 100" compares a column; anything else is looked for in every cell.
  const wanted = () => {
    const asked = filter.value.trim().toLowerCase();
    const parts = asked.match(/^(.+?)\s*(<=|>=|<|>|=)\s*(.+)$/);
    const column = parts ? names.findIndex((name) => name.toLowerCase() === parts[1]) : -1;
    if (column < 0) return (row) => row.some((value, i) => String(words(value, i)).toLowerCase().includes(asked));
    const [sign, text, limit] = [parts[2], parts[3], Number(parts[3])];
    const compare = { "<": (v) => v < limit, ">": (v) => v > limit, "<=": (v) => v <= limit, ">=": (v) => v >= limit }[sign];
    return (row) => sign === "=" ? String(row[column]).toLowerCase() === text || row[column] === limit : typeof row[column] === "number" && compare(row[column]);
  };

  const kinds = {
    all: () => true,
    outside: (row) => row[isInside] === "no",
    unfamiliar: (row) => row[isStrange] === "yes",
    epistemic: (row) => row[ofShare] > share,
    aleatoric: (row) => row[ofShare] <= share,
  };

  const found = () => {
    const compare = (a, b) => {
      const [one, other] = [a[order.column], b[order.column]];
      const numbers = typeof one === "number" && typeof other === "number";
      return (numbers ? one - other : (typeof one === "string") - (typeof other === "string") || String(one).localeCompare(String(other))) * (order.up ? 1 : -1);
    };
    return rows.filter(kinds[which.value]).filter(wanted()).sort(compare);
  };

  const draw = () => {
    const matching = found();
    body.replaceChildren(...matching.slice(0, shown).map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map((value, i) => {
        const cell = document.createElement(i ? "td" : "th");
        cell.textContent = words(value, i);
        return cell;
      }));
      return line;
    }));
    [...head.querySelectorAll("th")].forEach((each, i) => {
      if (i === order.column) each.setAttribute("aria-sort", order.up ? "ascending" : "descending");
      else each.removeAttribute("aria-sort");
    });
    status.textContent = `${matching.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    more.hidden = matching.length <= shown;
  };

  const again = () => { shown = STEP; draw(); };
  const titles = document.createElement("tr");
  names.forEach((name, column) => {
    const [title, button] = ["th", "button"].map((tag) => document.createElement(tag));
    button.type = "button";
    button.textContent = column === 0 || isOurs(column) ? name[0].toUpperCase() + name.slice(1) : name;
    button.addEventListener("click", () => {
      order = { column, up: order.column === column ? !order.up : column === 0 || typeof rows[0][column] === "string" };
      again();
    });
    title.append(button);
    titles.append(title);
  });
  head.append(titles);
  which.addEventListener("change", again);
  filter.addEventListener("input", again);
  more.addEventListener("click", () => { shown += 4 * STEP; draw(); });
  place.querySelector(".download").addEventListener("click", () => {
    const quoted = (value) => typeof value === "number" ? value : `"${String(value).replaceAll('"', '""')}"`;
    const lines = [names, ...found()].map((row) => row.map(quoted).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = "rows.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  place.hidden = false;
  draw();
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
