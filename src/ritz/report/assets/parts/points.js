"use strict";
/* Rows and columns of a table in one map: size by mass, faint where the plane shows them badly; numbers are arrows; what took no part is hollow. */
Ritz.part("points", (place, data) => {
  const at = { x: 0, y: Math.min(1, data.axes.length - 1) }, axes = data.axes.map((axis) => axis.name), own = data.sides.filter((side) => !side.further).length;
  const all = data.sides.flatMap((side, s) => side.names.map((name, j) => ({ side, s, j, name })));
  const top = data.sides.map((side) => Math.max(...side.mass) || 1), one = data.axes.length === 1;
  const value = (p, what, a) => p.side[what][a][p.j];
  const cos2 = (p) => Math.min(1, (value(p, "cos2", at.x) || 0) + (at.x === at.y ? 0 : value(p, "cos2", at.y) || 0));
  const arrows = (x, y) => {
    const held = data.numbers;
    if (!held || one) return [];
    const far = Math.max(...x.map(Math.abs), ...y.map(Math.abs)) || 1, size = held.names.map((_, j) => Math.hypot(held.xy[at.x][j], held.xy[at.y][j]));
    const stretch = 0.9 * far;
    return Ritz.arrowsOf(held.xy[at.x], held.xy[at.y], held.most).map((j) => ({ x: held.xy[at.x][j] * stretch, y: held.xy[at.y][j] * stretch, text: held.names[j], dash: held.further[j] ? [5, 3] : null,
      colour: held.further[j] ? Ritz.ink.kinds[3] : Ritz.ink.kinds[0], alpha: 0.4 + 0.6 * Math.min(1, size[j]),
      lines: [[held.names[j]], ...(held.further[j] ? [["took no part in the axes"]] : []), ["correlation with " + axes[at.x], Ritz.format(held.xy[at.x][j])], ["correlation with " + axes[at.y], Ritz.format(held.xy[at.y][j])]] }));
  };
  const make = () => {
    const x = Float64Array.from(all, (p) => value(p, "xy", at.x)), y = Float64Array.from(all, (p) => (one ? 0 : value(p, "xy", at.y)));
    return { x, y, arrows: arrows(x, y), names: [Ritz.axis(data.axes[at.x]), one ? "" : Ritz.axis(data.axes[at.y])] };
  };
  const mark = (p) => (p.side.further ? { fill: p.side.what.startsWith("rows") ? Ritz.ink.kinds[2] : Ritz.ink.kinds[3], shape: 3 } : { fill: p.s === own - 1 ? Ritz.ink.kinds[1] : Ritz.ink.kinds[0], shape: p.s === own - 1 ? 2 : 0 });
  const weight = (p) => value(p, "shares", at.x) + (one ? 0 : value(p, "shares", at.y)) + (p.side.further ? 0.05 : 0);
  const order = () => all.map((_, i) => i).sort((a, b) => weight(all[b]) - weight(all[a]));
  /* Rings of confidence about the points of one side, or of concentration about all of them: χ² with 2 degrees of freedom reaches 5.9915 in 5 % of cases. */
  const circled = data.inertia ? data.sides.map((side, s) => [side, s]).filter(([side]) => side.spread) : [], square = 5.991464547;
  const covariance = (side, j, a, b) => side.spread[Math.max(a, b)][Math.min(a, b)][j];
  const rings = () => {
    if (!at.ring || at.x === at.y) return [];
    if (at.ring > circled.length) return [{ ...Ritz.ring({ x: 0, y: 0, xx: data.inertia[at.x], yy: data.inertia[at.y], xy: 0 }, square), colour: Ritz.ink.faint, dash: [4, 3] }];
    const [side, s] = circled[at.ring - 1];
    return side.names.map((_, j) => ({ ...Ritz.ring({ x: side.xy[at.x][j], y: side.xy[at.y][j], xx: covariance(side, j, at.x, at.x), yy: covariance(side, j, at.y, at.y), xy: covariance(side, j, at.x, at.y) }, square),
      colour: mark({ side, s }).fill, dash: [] })).filter((ring) => Number.isFinite(ring.axes[0]));
  };
  const ring = circled.length ? Ritz.select("Ellipses", ["none", ...circled.map(([side]) => "confidence of " + side.what + " (95 %)"), "concentration (95 %)"], 0, (i) => { at.ring = i; plane.draw(); }) : null;
  if (!one) place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(axes, at, axes.length, () => plane.update(make())), ...(ring ? [ring] : [])));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: all.length, ...make(), equal: !one, rings, buckets: () => ({ buckets: [] }), mark: (i) => mark(all[i]),
    size: (i) => (all[i].side.further ? 4.5 : 3 + 5 * Math.sqrt(all[i].side.mass[all[i].j] / top[all[i].s] || 0)), alpha: (i) => 0.3 + 0.7 * cos2(all[i]), radius: 6,
    describe: (i) => {
      const p = all[i], lines = [[p.name], p.side.further ? ["took no part in the axes"] : ["mass", Ritz.percent(p.side.mass[p.j])]];
      for (const a of one ? [at.x] : [at.x, at.y]) lines.push([axes[a], Ritz.format(value(p, "xy", a)) + (p.side.further ? "" : ", contribution " + Ritz.percent(value(p, "shares", a))) + ", cos² " + Ritz.format(value(p, "cos2", a), 2)]);
      return lines;
    },
    marks: (self) => order().slice(0, self.width < 500 ? 40 : 90).map((i) => ({ x: self.options.x[i], y: self.options.y[i], text: all[i].name, r: self.options.size(i) - 2,
      colour: all.length > 40 && cos2(all[i]) < 0.1 ? Ritz.ink.faint : mark(all[i]).fill })),
  });
  const legend = Ritz.el("div", { class: "legend" });
  plane.canvas.parentNode.after(legend);
  const show = () => { plane.options.arrows = make().arrows; legend.replaceChildren(...Ritz.keys(data.sides.map((side, s) => [side.what, mark({ side, s }).fill, mark({ side, s }).shape]))); };
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
