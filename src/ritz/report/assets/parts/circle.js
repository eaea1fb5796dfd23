"use strict";
Ritz.part("circle", (place, data) => {
  const names = data.axes.map((axis) => axis.name), at = { x: 0, y: 1 };
  const make = () => {
    const x = Float64Array.from(data.columns[at.x]), y = Float64Array.from(data.columns[at.y]);
    return { x, y, count: x.length, names: [Ritz.axis(data.axes[at.x]), Ritz.axis(data.axes[at.y])],
      arrows: data.names.map((text, i) => ({ x: x[i], y: y[i], text, alpha: 0.35 + 0.65 * Math.min(1, Math.hypot(x[i], y[i])) })) };
  };
  place.append(Ritz.el("div", { class: "controls" },
    Ritz.select("Across", names, at.x, (i) => { at.x = i; plane.update(make()); }), Ritz.select("Up", names, at.y, (i) => { at.y = i; plane.update(make()); })));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), ...make(), equal: true, circle: true, square: true, extent: { x0: -1.25, x1: 1.25, y0: -1.12, y1: 1.12 },
    radius: 1, buckets: () => ({ buckets: [] }),
    describe: (i) => [[data.names[i]], [names[at.x], Ritz.format(data.columns[at.x][i])], [names[at.y], Ritz.format(data.columns[at.y][i])]],
  });
  place.plane = plane;
});
