"use strict";
/* What all charts share: reading data, making elements, colours, tooltips, controls. No library, no request. */

const Ritz = { parts: {}, redraws: [] };

/* A part registers how it is drawn: place is its element, data its JSON. */
Ritz.part = (id, draw) => { Ritz.parts[id] = draw; };

Ritz.start = () => {
  Ritz.theme();
  for (const place of document.querySelectorAll("[data-chart]")) {
    const id = place.dataset.chart;
    if (!Ritz.parts[id]) continue;
    Ritz.parts[id](place, Ritz.json(id));
    if (place.querySelector("svg, canvas")) Ritz.addSave(place);
  }
  for (const nav of document.querySelectorAll("nav details")) nav.open = window.innerWidth >= 1180;
  addEventListener("beforeprint", () => Ritz.dress("light"));
  addEventListener("afterprint", () => Ritz.dress(Ritz.chosen));
};

Ritz.json = (id) => {
  const block = document.getElementById("data-" + id);
  return block ? JSON.parse(block.textContent) : null;
};

/* The rows, decoded once for all charts. */
Ritz.rows = () => {
  if (Ritz.held) return Ritz.held;
  const rows = Ritz.json("rows");
  rows.index = rows.index ? Ritz.numbers(rows.index) : null;
  rows.scores = rows.scores.map(Ritz.numbers);
  rows.norms = rows.norms ? Ritz.numbers(rows.norms) : null;
  rows.name = (i) => (rows.names ? rows.names[i] : "row " + (rows.number(i) + 1).toLocaleString("en"));
  rows.number = (i) => (rows.index ? rows.index[i] : i);
  Ritz.held = rows;
  return rows;
};

/* Numbers as the page holds them (pack.py): plain, float32, or steps between lo and hi; NaN where there is none. */
Ritz.numbers = (packed) => {
  if (Array.isArray(packed)) return Float64Array.from(packed, (x) => (x === null ? NaN : x));
  const kind = Object.keys(packed).find((key) => /^[fu]\d/.test(key));
  const text = atob(packed[kind]);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  if (kind === "f32") return new Float32Array(bytes.buffer);
  if (kind === "f64") return new Float64Array(bytes.buffer);
  if (kind === "u8") return bytes;
  if (kind === "u32") return new Uint32Array(bytes.buffer);
  const steps = new Uint16Array(bytes.buffer);
  if (kind === "u16c") return steps;
  const out = new Float64Array(steps.length);
  const width = packed.hi - packed.lo;
  for (let i = 0; i < steps.length; i++) out[i] = steps[i] === 65535 ? NaN : packed.lo + (steps[i] / 65534) * width;
  return out;
};

/* Elements: text is always text. */
Ritz.el = (name, attributes = {}, ...children) => Ritz.made(document.createElement(name), attributes, children);
Ritz.svg = (name, attributes = {}, ...children) =>
  Ritz.made(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
Ritz.made = (node, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};

/* Words for numbers. */
Ritz.format = (x, digits = 3) => {
  if (!Number.isFinite(x)) return "–";
  if (Math.abs(x) < 1e-14) return "0";
  if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e7)) return x.toExponential(digits - 1).replaceAll("-", "−").replace("e+", "e");
  const places = x === 0 ? 0 : Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(Math.abs(x)))));
  return x.toLocaleString("en", { maximumFractionDigits: places }).replace("-", "−");
};
Ritz.percent = (x) => (Number.isFinite(x) ? (100 * x).toFixed(1) + "\u00a0%" : "–");
Ritz.clip = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");
/* As much of a text of a chart as fits into so many pixels. */
Ritz.fitted = (text, width) => {
  const pen = (Ritz.pen = Ritz.pen || document.createElement("canvas").getContext("2d"));
  pen.font = "12px " + getComputedStyle(document.documentElement).getPropertyValue("--sans");
  let most = text.length;
  while (most > 1 && pen.measureText(Ritz.clip(text, most)).width > width) most--;
  return Ritz.clip(text, most);
};
Ritz.axis = (axis) => (axis.share === undefined ? axis.name : axis.name + " (" + Ritz.percent(axis.share) + ")");

/* Light and dark: the system's choice until the reader makes another. */
Ritz.theme = () => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  Ritz.chosen = system.matches ? "dark" : "light";
  Ritz.dress(Ritz.chosen);
  system.addEventListener("change", () => Ritz.dress((Ritz.chosen = system.matches ? "dark" : "light")));
  document.getElementById("theme").addEventListener("click", () => {
    Ritz.dress((Ritz.chosen = Ritz.chosen === "dark" ? "light" : "dark"));
  });
};
Ritz.dress = (theme) => {
  document.documentElement.dataset.theme = theme;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  Ritz.ink = { text: read("--ink"), faint: read("--faint"), line: read("--line"), paper: read("--paper"), accent: read("--accent"),
    warm: read("--warm"), soft: read("--soft"), kinds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => read("--kind" + i)) };
  for (const redraw of Ritz.redraws) redraw();
};

/* Draw now, when the width changes, and when the theme does. */
Ritz.live = (place, draw) => {
  let width = 0;
  const again = () => { width = place.clientWidth; if (width > 0) draw(width); };
  new ResizeObserver(() => { if (place.clientWidth !== width) again(); }).observe(place);
  Ritz.redraws.push(again);
  again();
};

/* One tooltip for all charts; lines are [text] or [label, text]. */
Ritz.tip = (at, lines) => {
  if (!Ritz.bubble) {
    Ritz.bubble = Ritz.el("div", { class: "tip", "aria-hidden": "true" });
    document.body.append(Ritz.bubble);
  }
  if (!lines) { Ritz.bubble.hidden = true; return; }
  Ritz.bubble.hidden = false;
  Ritz.bubble.replaceChildren(...lines.map((line, i) => Ritz.el("div", { class: i ? "" : "head" },
    ...(line.length > 1 ? [Ritz.el("span", {}, line[0] + " "), Ritz.el("bdi", {}, line[1])] : [Ritz.el("bdi", {}, line[0])]))));
  const box = Ritz.bubble.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  const left = Math.max(6, Math.min(at.x + 14, wide - box.width - 6));
  const top = at.y + 16 + box.height > innerHeight ? at.y - box.height - 12 : at.y + 16;
  Ritz.bubble.style.left = left + "px";
  Ritz.bubble.style.top = Math.max(6, top) + "px";
};

/* Controls. */
Ritz.count = 0;
Ritz.select = (label, options, value, change) => {
  const id = "choice-" + ++Ritz.count;
  const box = Ritz.el("select", { id, onchange: (event) => change(+event.target.value) },
    options.map((text, i) => Ritz.el("option", { value: i, selected: i === value }, Ritz.clip(text, 40))));
  return Ritz.el("span", { class: "choice" }, Ritz.el("label", { for: id }, label), box);
};
Ritz.button = (text, label, press, pressed) => Ritz.el("button", { type: "button", title: label, "aria-label": label,
  "aria-pressed": pressed === undefined ? null : String(pressed), onclick: press }, text);

Ritz.icon = (d) => Ritz.svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, Ritz.svg("path", { d }));

/* Colour scales: amounts (viridis, even in brightness, readable without colour vision) and signs (blue, white, red). */
Ritz.scale = (stops) => (t) => {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((low, c) => Math.round(low + (stops[i + 1][c] - low) * (at - i)));
};
Ritz.amounts = Ritz.scale([[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
  [109, 205, 89], [180, 222, 44], [253, 231, 37]]);
Ritz.signs = Ritz.scale([[5, 48, 97], [33, 102, 172], [103, 169, 207], [209, 229, 240], [247, 247, 247], [253, 219, 199], [239, 138, 98],
  [178, 24, 43], [103, 0, 31]]);
Ritz.css = (rgb) => "rgb(" + rgb.join(",") + ")";
