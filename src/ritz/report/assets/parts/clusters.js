"use strict";
/* Rows coloured by cluster, centres named. */
Ritz.part("clusters", (place, data) => {
  const rows = Ritz.rows(), names = rows.axes.map((axis) => axis.name), at = { x: 0, y: Math.min(1, names.length - 1) };
  const kinds = Array.from({ length: data.k }, (_, g) => "cluster " + (g + 1)), colour = { name: "cluster", kinds, codes: data.labels };
  let held = null;
  const buckets = () => (held && held.theme === Ritz.ink ? held : (held = { theme: Ritz.ink, mix: true, ...Ritz.buckets(rows.count, colour) }));
  const one = names.length === 1, y = () => (one ? (rows.zeros = rows.zeros || new Float64Array(rows.count)) : rows.scores[at.y]);
  const make = () => ({ x: rows.scores[at.x], y: y(), names: [Ritz.axis(rows.axes[at.x]), one ? "" : Ritz.axis(rows.axes[at.y])] });
  if (!one) place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  let plane = null;
  const centres = () => Ritz.kindsOf(buckets().buckets, rows.scores[at.x], y()).map((k) => ({ x: k.x, y: k.y, fill: k.bucket.fill, shape: k.bucket.shape, size: 8, text: k.bucket.name,
    lines: [[k.bucket.name], ["rows", k.n.toLocaleString("en")]] }));
  plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: rows.count, ...make(), equal: !one, buckets, spots: () => (plane ? centres() : []),
    describe: (i) => [[rows.name(i)], [kinds[colour.decoded[i]] || "no cluster"], [names[at.x], Ritz.format(rows.scores[at.x][i])], ...(one ? [] : [[names[at.y], Ritz.format(rows.scores[at.y][i])]])],
  });
  const legend = Ritz.el("div", { class: "legend" }), show = () => Ritz.legend(legend, colour, buckets(), plane);
  plane.canvas.parentNode.after(legend);
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});

/* The upper part of Ward's tree, cut where the clusters are; the gains of further clusters beside it. */
Ritz.part("clusters-tree", (place) => {
  const data = Ritz.json("clusters"), count = data.leaves.length;
  Ritz.live(place, (width) => {
    const high = 240, left = 52, right = 10, top = 26, bottom = 22, room = high - top - bottom, most = data.joins.length ? data.joins[data.joins.length - 1][2] : 1;
    const svg = Ritz.svg("svg", { width, height: high, viewBox: `0 0 ${width} ${high}`, "aria-hidden": "true" });
    const sx = (i) => left + ((i + 0.5) / count) * (width - left - right), sy = (v) => top + room * (1 - Math.sqrt(v / (most || 1)));
    const spot = Array.from({ length: count }, (_, i) => ({ x: sx(i), y: sy(0), rows: data.leaves[i].rows }));
    for (const [a, b, gain] of data.joins) {
      const p = spot[a], q = spot[b], y = sy(gain), n = p.rows + q.rows;
      const path = Ritz.svg("path", { d: `M${p.x.toFixed(1)} ${p.y.toFixed(1)}V${y.toFixed(1)}H${q.x.toFixed(1)}V${q.y.toFixed(1)}`, class: "branch" });
      Ritz.hint(path, [[n.toLocaleString("en") + " rows"], ["inertia gained by keeping the two apart", Ritz.format(gain)]]);
      svg.append(path);
      spot.push({ x: (p.x + q.x) / 2, y, rows: n });
    }
    const gains = data.joins.map((j) => j[2]).reverse();
    if (data.k > 1 && gains.length >= data.k - 1) {
      const cut = sy((gains[data.k - 2] + (gains[data.k - 1] || 0)) / 2);
      svg.append(Ritz.line(left, cut, width - right, cut, "limit"), Ritz.text(width - right, cut - 4, data.k + " clusters", "tick", "end"));
    }
    for (const v of Ritz.ticks(0, most, 3)) svg.append(Ritz.text(left - 7, sy(v) + 4, Ritz.format(v, 2), "tick", "end"));
    svg.append(Ritz.text(2, 12, "inertia gained (root scale)", "name"), Ritz.text(width - right, high - 5, data.leaves.every((l) => l.rows === 1) ? "one leaf a row" : "the upper " + count + " branches", "tick", "end"));
    place.replaceChildren(svg);
  });
});
