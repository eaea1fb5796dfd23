"use strict";
/* Rows and columns of a table in one map: size by mass, faint where the plane shows them badly. */
Ritz.part("points", (place, data) => {
  const at = { x: 0, y: Math.min(1, data.axes.length - 1) }, axes = data.axes.map((axis) => axis.name);
  const all = data.sides.flatMap((side, s) => side.names.map((name, j) => ({ side, s, j, name })));
  const top = data.sides.map((side) => Math.max(...side.mass) || 1);
  const value = (p, what, a) => p.side[what][a][p.j];
  const cos2 = (p) => Math.min(1, (value(p, "cos2", at.x) || 0) + (at.x === at.y ? 0 : value(p, "cos2", at.y) || 0));
  const one = data.axes.length === 1;
  const make = () => ({
    x: Float64Array.from(all, (p) => value(p, "xy", at.x)), y: Float64Array.from(all, (p) => (one ? 0 : value(p, "xy", at.y))),
    names: [Ritz.axis(data.axes[at.x]), one ? "" : Ritz.axis(data.axes[at.y])],
  });
  const mark = (p) => ({ fill: p.s === data.sides.length - 1 ? Ritz.ink.kinds[1] : Ritz.ink.kinds[0], shape: p.s === data.sides.length - 1 ? 2 : 0 });
  const order = () => all.map((_, i) => i).sort((a, b) => weight(all[b]) - weight(all[a]));
  const weight = (p) => value(p, "shares", at.x) + (one ? 0 : value(p, "shares", at.y));
  if (!one) place.append(Ritz.el("div", { class: "controls" },
    Ritz.select("Across", axes, at.x, (i) => { at.x = i; plane.update(make()); }), Ritz.select("Up", axes, at.y, (i) => { at.y = i; plane.update(make()); })));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: all.length, ...make(), equal: !one, buckets: () => ({ buckets: [] }), mark: (i) => mark(all[i]),
    size: (i) => 3 + 5 * Math.sqrt(all[i].side.mass[all[i].j] / top[all[i].s] || 0), alpha: (i) => 0.3 + 0.7 * cos2(all[i]), radius: 6,
    describe: (i) => {
      const p = all[i], lines = [[p.name], ["mass", Ritz.percent(p.side.mass[p.j])]];
      for (const a of one ? [at.x] : [at.x, at.y]) lines.push([axes[a], Ritz.format(value(p, "xy", a)) + ", contribution " + Ritz.percent(value(p, "shares", a)) + ", cos² " + Ritz.format(value(p, "cos2", a), 2)]);
      return lines;
    },
    marks: (self) => order().slice(0, self.width < 500 ? 40 : 90).map((i) => ({ x: self.options.x[i], y: self.options.y[i], text: all[i].name, r: self.options.size(i) - 2,
      colour: all.length > 40 && cos2(all[i]) < 0.1 ? Ritz.ink.faint : mark(all[i]).fill })),
  });
  const legend = Ritz.el("div", { class: "legend" });
  plane.canvas.parentNode.after(legend);
  const show = () => legend.replaceChildren(...data.sides.map((side, s) => {
    const m = mark({ s });
    return Ritz.el("span", { class: "choice" }, Ritz.svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, Ritz.svg("path", { d: Ritz.outline(m.shape), fill: m.fill })), side.what);
  }));
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
