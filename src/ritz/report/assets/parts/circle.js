"use strict";
/* Columns by their correlations with two axes; columns that took no part are dashed. */
Ritz.part("circle", (place, data) => {
  const names = data.axes.map((axis) => axis.name), at = { x: 0, y: 1 }, extra = data.further || { names: [], columns: data.columns.map(() => []) };
  const all = [...data.names.map((text, i) => ({ text, i, from: data })), ...extra.names.map((text, i) => ({ text, i, from: extra }))];
  const value = (one, a) => one.from.columns[a][one.i];
  const make = () => {
    const kept = new Set(Ritz.arrowsOf(data.columns[at.x], data.columns[at.y], data.most));
    const shown = all.filter((one) => one.from === extra || kept.has(one.i));
    return { shown, x: Float64Array.from(shown, (one) => value(one, at.x)), y: Float64Array.from(shown, (one) => value(one, at.y)), count: shown.length, names: [Ritz.axis(data.axes[at.x]), Ritz.axis(data.axes[at.y])],
      arrows: shown.map((one) => ({ x: value(one, at.x), y: value(one, at.y), text: one.text, dash: one.from === extra ? [5, 3] : null, colour: one.from === extra ? Ritz.ink.kinds[3] : null,
        alpha: 0.35 + 0.65 * Math.min(1, Math.hypot(value(one, at.x), value(one, at.y))) })) };
  };
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const describe = (i) => {
    const one = plane.options.shown[i], x = value(one, at.x), y = value(one, at.y);
    return [[one.text], ...(one.from === extra ? [["took no part in the axes"]] : []), [names[at.x], Ritz.format(x)], [names[at.y], Ritz.format(y)], ["cos² in this plane", Ritz.percent(Math.min(1, x * x + (at.x === at.y ? 0 : y * y)))]];
  };
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), ...make(), equal: true, circle: true, square: true, extent: { x0: -1.25, x1: 1.25, y0: -1.12, y1: 1.12 },
    radius: 1, buckets: () => ({ buckets: [] }), describe,
  });
  Ritz.redraws.push(() => { plane.options.arrows = make().arrows; });
  place.plane = plane;
});
