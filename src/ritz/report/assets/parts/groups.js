"use strict";
Ritz.part("groups", (place, data) => {
  const at = { x: 0 };
  const chart = Ritz.el("div", {});
  const draw = (width) => chart.replaceChildren(Ritz.bars(chart, width, data.names.map((name, g) => ({ name, value: data.shares[at.x][g], note: Ritz.percent(data.shares[at.x][g]),
    lines: [[name], ["contribution", Ritz.percent(data.shares[at.x][g])]] }))));
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(data.axes, at, data.axes.length, () => draw(chart.clientWidth), "Axis")), chart);
  Ritz.live(chart, draw);
});

/* Groups in the square of their shares of two axes. */
Ritz.part("groups-map", (place) => {
  const data = Ritz.json("groups"), axes = data.shared, names = axes.map((axis) => axis.name), at = { x: 0, y: 1 };
  const make = () => ({ x: Float64Array.from(data.places[at.x]), y: Float64Array.from(data.places[at.y]), names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])] });
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: data.names.length, ...make(), equal: true, square: true, extent: { x0: -0.03, x1: 1.05, y0: -0.03, y1: 1.05 }, radius: 6,
    buckets: () => ({ buckets: [] }), mark: (i) => ({ fill: Ritz.ink.kinds[i % Ritz.ink.kinds.length], shape: i % 8 }), size: () => 6, alpha: () => 1,
    describe: (i) => [[data.names[i]], [names[at.x], Ritz.format(data.places[at.x][i])], [names[at.y], Ritz.format(data.places[at.y][i])]],
    marks: (self) => data.names.map((text, i) => ({ x: self.options.x[i], y: self.options.y[i], text, r: 5, colour: Ritz.ink.text })),
  });
  place.plane = plane;
});

/* Rows as all groups place them, and as each group alone would. */
Ritz.part("groups-partial", (place) => {
  const data = Ritz.json("groups"), held = data.partial, rows = Ritz.rows(), axes = data.shared, names = axes.map((axis) => axis.name), at = { x: 0, y: 1, row: -1 };
  const where = new Map(held.rows.map((row, j) => [row, j])), tint = (g) => Ritz.ink.kinds[g % Ritz.ink.kinds.length];
  const make = () => ({ x: rows.scores[at.x], y: rows.scores[at.y], names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])] });
  const shown = () => [...new Set([...held.rows.slice(0, held.drawn), ...(at.row >= 0 && where.has(at.row) ? [at.row] : [])])];
  const parts = () => shown().flatMap((row) => data.names.map((name, g) => ({ row, g, name, x: held.xy[g][at.x][where.get(row)], y: held.xy[g][at.y][where.get(row)] })));
  let fill = null;
  const buckets = () => (fill && fill.theme === Ritz.ink ? fill : (fill = { theme: Ritz.ink, buckets: [{ fill: Ritz.ink.text, shape: 0, rows: Int32Array.from({ length: rows.count }, (_, i) => i) }] }));
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: rows.count, ...make(), equal: true, buckets, focus: (i) => { at.row = i; },
    rings: () => parts().map((p) => ({ points: [[rows.scores[at.x][p.row], rows.scores[at.y][p.row]], [p.x, p.y]], colour: tint(p.g), width: 1.2 })),
    spots: () => parts().map((p) => ({ x: p.x, y: p.y, fill: tint(p.g), shape: p.g % 8, size: 4, lines: [[rows.name(p.row)], ["as group " + p.name + " sees it"], [names[at.x], Ritz.format(p.x)], [names[at.y], Ritz.format(p.y)]] })),
    describe: (i) => [[rows.name(i)], [names[at.x], Ritz.format(rows.scores[at.x][i])], [names[at.y], Ritz.format(rows.scores[at.y][i])]],
    marks: () => shown().map((row) => ({ x: rows.scores[at.x][row], y: rows.scores[at.y][row], text: rows.name(row), colour: Ritz.ink.text })),
  });
  const legend = Ritz.el("div", { class: "legend" }), show = () => legend.replaceChildren(...Ritz.keys(data.names.map((name, g) => [name, tint(g), g % 8])));
  plane.canvas.parentNode.after(legend);
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
