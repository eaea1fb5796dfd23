"use strict";
Ritz.part("outliers", (place, data) => {
  const rows = Ritz.rows(), x = Ritz.numbers(data.inside), y = Ritz.numbers(data.off), odd = Ritz.numbers(data.odd), far = Ritz.numbers(data.beyond), count = x.length;
  const [lx, ly] = data.limits;
  const beyond = (i) => far[i];
  const groups = [[], [], []];
  for (let i = 0; i < count; i++) groups[odd[i] ? 2 : beyond(i) ? 1 : 0].push(i);
  const kept = groups.map((list) => Int32Array.from(list));
  /* The range of the rows, with the limit where it is not far beyond them. */
  const range = (v, limit) => {
    let low = Infinity, high = -Infinity;
    for (const value of v) { if (value < low) low = value; if (value > high) high = value; }
    if (limit && limit > high && limit - high < high - low) high = limit;
    if (limit && limit < low && low - limit < high - low) low = limit;
    const room = 0.05 * (high - low || high || 1);
    return [Math.max(0, low - room), high + room];
  };
  const [x0, x1] = range(x, lx), [y0, y1] = range(y, ly);
  const some = [...groups[2], ...groups[1]].sort((a, b) => x[b] / (lx || 1) + y[b] / (ly || 1) - x[a] / (lx || 1) - y[a] / (ly || 1)).slice(0, 25);
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count, x, y, names: ["distance in the plane, √T²", "distance off the plane, √Q"], limits: data.limits,
    above: 1, extent: { x0, x1, y0, y1 }, radius: Math.min(3.2, Ritz.radius(count)),
    buckets: () => ({ buckets: [{ fill: Ritz.ink.accent, shape: 0, rows: kept[0] }, { fill: Ritz.ink.kinds[4], shape: 1, rows: kept[1] }, { fill: Ritz.ink.warm, shape: 3, rows: kept[2] }] }),
    describe: (i) => [[rows.name(i)], ["in the plane", Ritz.format(x[i]) + (lx ? " (limit " + Ritz.format(lx) + ")" : "")], ["off the plane", Ritz.format(y[i]) + (ly ? " (limit " + Ritz.format(ly) + ")" : "")],
      [odd[i] ? "outlier" : beyond(i) ? "beyond a limit" : "within the limits"]],
    marks: () => some.map((i) => ({ x: x[i], y: y[i], text: rows.name(i), colour: Ritz.ink.text })),
  });
  const legend = Ritz.el("div", { class: "legend" });
  plane.canvas.parentNode.after(legend);
  const show = () => legend.replaceChildren(...[["within the limits", Ritz.ink.accent, 0], ["beyond a limit", Ritz.ink.kinds[4], 1], ["outlier", Ritz.ink.warm, 3]]
    .filter((_, g) => kept[g].length).map(([name, fill, shape]) => Ritz.el("span", { class: "choice" },
      Ritz.svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, Ritz.svg("path", { d: Ritz.outline(shape), fill })), name)));
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
