"use strict";
/* Small charts as SVG: they take their colours from the style sheet, so light, dark and print come by themselves. */

Ritz.text = (x, y, words, kind, anchor) => Ritz.svg("text", { x, y, class: kind, "text-anchor": anchor || "start" }, words);
Ritz.line = (x1, y1, x2, y2, kind) => Ritz.svg("line", { x1, y1, x2, y2, class: kind });

/* A frame with round numbers: gives the svg, the scales and the plotting box. */
Ritz.frame = (place, width, height, x, y, { left = 46, right = 12, top = 14, bottom = 40, percent = true, xname = "", yname = "", whole = true } = {}) => {
  const box = { left, top, width: width - left - right, height: height - top - bottom };
  const sx = (v) => box.left + ((v - x[0]) / (x[1] - x[0] || 1)) * box.width;
  const sy = (v) => box.top + box.height - ((v - y[0]) / (y[1] - y[0] || 1)) * box.height;
  const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const v of Ritz.ticks(y[0], y[1], Math.max(2, box.height / 55))) {
    svg.append(Ritz.line(box.left, sy(v), box.left + box.width, sy(v), "grid"));
    svg.append(Ritz.text(box.left - 7, sy(v) + 4, percent ? Math.round(100 * v) + " %" : Ritz.format(v), "tick", "end"));
  }
  if (xname) svg.append(Ritz.text(box.left + box.width, height - 4, xname, "name", "end"));
  if (yname) svg.append(Ritz.text(2, 10, yname, "name"));
  if (whole) for (const v of Ritz.ticks(x[0], x[1], Math.min(x[1] - x[0], box.width / 45))) {
    if (Number.isInteger(v)) svg.append(Ritz.text(sx(v), box.top + box.height + 17, String(v), "tick", "middle"));
  }
  return { svg, sx, sy, box };
};

Ritz.path = (points, kind) => Ritz.svg("path", { d: points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join(""), class: kind });

/* Lines over the number of components: series are {x, y, kind, name}. */
Ritz.lines = (place, width, series, options) => {
  const every = series.flatMap((s) => s.y.filter(Number.isFinite)), ks = series.flatMap((s) => s.x);
  const top = options.top !== undefined ? options.top : Math.max(...every) * 1.05;
  const frame = Ritz.frame(place, width, Math.min(320, Math.max(220, width * 0.42)), [Math.min(...ks), Math.max(...ks)], [0, top], { ...options, top: 24 });
  if (options.line !== undefined && options.line !== null) {
    frame.svg.append(Ritz.line(frame.box.left, frame.sy(options.line), frame.box.left + frame.box.width, frame.sy(options.line), "limit"));
  }
  for (const s of series) {
    const points = s.x.map((k, i) => [frame.sx(k), frame.sy(s.y[i])]).filter((p) => Number.isFinite(p[1]));
    frame.svg.append(Ritz.path(points, "curve " + s.kind));
    points.forEach(([x, y], i) => {
      const dot = Ritz.svg("circle", { cx: x, cy: y, r: points.length > 25 ? 2 : 3.5, class: "dot " + s.kind });
      Ritz.hint(dot, [[s.name], [s.x[i] + (s.x[i] === 1 ? " component" : " components"), (options.percent === false ? Ritz.format : Ritz.percent)(s.y[i])]]);
      frame.svg.append(dot);
    });
  }
  return frame;
};

/* A tooltip of an SVG mark. */
Ritz.hint = (mark, lines) => {
  mark.addEventListener("pointermove", (event) => Ritz.tip({ x: event.clientX, y: event.clientY }, lines));
  mark.addEventListener("pointerleave", () => Ritz.tip(null, null));
};

/* Bars to both sides of zero, one line a column: items are {name, value, note}. */
Ritz.bars = (place, width, items, even, line0) => {
  const line = 24, narrow = width < 520, label = Math.min(narrow ? 130 : 210, 0.38 * width), note = 56;
  const height = items.length * line + 8;
  const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const most = Math.max(...items.map((item) => Math.abs(item.value)), 1e-300);
  const low = items.some((item) => item.value < 0) ? -most : 0, high = items.some((item) => item.value > 0) ? most : 0;
  const left = label + 10, room = width - left - note - 4;
  const sx = (v) => left + ((v - low) / (high - low || 1)) * room;
  items.forEach((item, i) => {
    const y = i * line + 4, x0 = Math.min(sx(0), sx(item.value)), wide = Math.max(1, Math.abs(sx(item.value) - sx(0)));
    const text = Ritz.text(label, y + 15, Ritz.fitted(item.name, label - 2), "label", "end");
    const bar = Ritz.svg("rect", { x: x0, y: y + 3, width: wide, height: line - 8, rx: 2, class: item.value < 0 ? "bar minus" : "bar plus" });
    if (even !== undefined && item.share < even) bar.classList.add("small");
    Ritz.hint(bar, item.lines);
    svg.append(text, bar, Ritz.text(width - 4, y + 15, item.note, "tick", "end"));
  });
  svg.append(Ritz.line(sx(0), 2, sx(0), height - 2, "zero"));
  if (line0 !== undefined && line0 < high) svg.append(Ritz.line(sx(line0), 2, sx(line0), height - 2, "limit"));
  return svg;
};

/* Places of the largest values, at most so many of them. */
Ritz.longest = (size, most) => size.map((_, i) => i).filter((i) => Number.isFinite(size[i])).sort((p, q) => size[q] - size[p]).slice(0, most);

/* Which arrows of a plane are drawn: all of few, the longest of some; of many the longest in every direction, so that no wedge of equal ones hides the
   others. */
Ritz.WEDGE = 60;
Ritz.arrowsOf = (x, y, most) => {
  const size = Array.from(x, (v, i) => Math.hypot(v, y[i])), order = Ritz.longest(size, size.length);
  if (order.length <= Ritz.WEDGE) return order.slice(0, most);
  const kept = [];
  for (const i of order) {
    if (kept.length === most || size[i] < 0.25 * size[order[0]]) break;
    const turn = Math.atan2(y[i], x[i]), apart = (j) => Math.abs(Math.atan2(Math.sin(turn - Math.atan2(y[j], x[j])), Math.cos(turn - Math.atan2(y[j], x[j]))));
    if (kept.every((j) => apart(j) > Math.PI / 18)) kept.push(i);
  }
  return kept;
};

/* A legend of shapes: entries are [name, fill, shape]; beside a chart that is drawn again with each theme. */
Ritz.keys = (entries) => entries.map(([name, fill, shape]) => Ritz.el("span", { class: "choice" },
  Ritz.svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, Ritz.svg("path", { d: Ritz.outline(shape), fill })), Ritz.el("bdi", {}, name)));
