"use strict";
/* Variables in the square of r² and η² with two axes. */
Ritz.part("relations", (place, data) => {
  const names = data.axes.map((axis) => axis.name), at = { x: 0, y: 1 };
  const all = data.sides.flatMap((side, s) => side.names.map((name, j) => ({ side, s, j, name })));
  const value = (p, a) => p.side.xy[a][p.j];
  const make = () => ({ x: Float64Array.from(all, (p) => value(p, at.x)), y: Float64Array.from(all, (p) => value(p, at.y)), names: [Ritz.axis(data.axes[at.x]), Ritz.axis(data.axes[at.y])] });
  const fill = (p) => (p.side.further ? Ritz.ink.kinds[3] : Ritz.ink.kinds[p.s % 2]), shape = (p) => (p.side.further ? 3 : p.s % 2 ? 2 : 0);
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: all.length, ...make(), equal: true, square: true, extent: { x0: -0.03, x1: 1.05, y0: -0.03, y1: 1.05 }, radius: 5,
    buckets: () => ({ buckets: [] }), mark: (i) => ({ fill: fill(all[i]), shape: shape(all[i]) }), size: () => 5, alpha: () => 0.9,
    describe: (i) => [[all[i].name], [all[i].side.what], [names[at.x], Ritz.format(value(all[i], at.x))], [names[at.y], Ritz.format(value(all[i], at.y))]],
    marks: (self) => all.map((p, i) => ({ x: self.options.x[i], y: self.options.y[i], text: p.name, r: 4, colour: fill(p) }))
      .sort((p, q) => Math.hypot(q.x, q.y) - Math.hypot(p.x, p.y)).slice(0, self.width < 500 ? 18 : 60),
  });
  const legend = Ritz.el("div", { class: "legend" }), show = () => legend.replaceChildren(...Ritz.keys(data.sides.map((side, s) => [side.what, fill({ side, s }), shape({ side, s })])));
  plane.canvas.parentNode.after(legend);
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
