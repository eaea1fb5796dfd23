"use strict";
/* Rows as points, the longest arrows of columns over them; arrows of columns that took no part are dashed. */
Ritz.part("biplot", (place, data) => {
  const rows = Ritz.rows(), names = rows.axes.map((axis) => axis.name), at = { x: 0, y: 1 };
  const far = (v) => v.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
  const make = () => {
    const x = rows.scores[at.x], y = rows.scores[at.y], cx = data.columns[at.x], cy = data.columns[at.y];
    const size = cx.map((v, i) => Math.hypot(v, cy[i])), stretch = (0.9 * Math.max(far(x), far(y))) / (Math.max(...size) || 1);
    const part = cx.map((_, i) => (data.shares[at.x][i] + data.shares[at.y][i]) / 2), top = Math.max(...part) || 1;
    const arrows = Ritz.arrowsOf(cx, cy, data.most).map((i) => ({ x: cx[i] * stretch, y: cy[i] * stretch, text: data.names[i], alpha: 0.35 + 0.65 * Math.sqrt(part[i] / top),
      lines: [[data.names[i]], [names[at.x], Ritz.format(cx[i]) + ", contribution " + Ritz.percent(data.shares[at.x][i])], [names[at.y], Ritz.format(cy[i]) + ", contribution " + Ritz.percent(data.shares[at.y][i])]] }));
    return { x, y, arrows, names: [Ritz.axis(rows.axes[at.x]), Ritz.axis(rows.axes[at.y])] };
  };
  const fill = () => ({ buckets: [{ fill: Ritz.ink.soft, shape: 0, rows: Int32Array.from({ length: rows.count }, (_, i) => i) }] });
  let held = null;
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: rows.count, equal: true, ...make(), radius: Math.min(3, Ritz.radius(rows.count)),
    buckets: () => (held && held.theme === Ritz.ink ? held.value : (held = { theme: Ritz.ink, value: fill() }).value),
    describe: (i) => [[rows.name(i)], [rows.axes[at.x].name, Ritz.format(rows.scores[at.x][i])], [rows.axes[at.y].name, Ritz.format(rows.scores[at.y][i])]],
  });
  place.plane = plane;
});
