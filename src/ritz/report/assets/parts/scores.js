"use strict";
/* Rows in a plane: colours, centres and ellipses of kinds, rows and categories that took no part; a lasso gives a list. */
Ritz.part("scores", (place, data) => {
  const rows = Ritz.rows(), own = rows.axes.length, axes = [...rows.axes, { name: "row number" }];
  const column = (a) => (a < own ? rows.scores[a] : (rows.places = rows.places || Float64Array.from({ length: rows.count }, (_, i) => rows.number(i) + 1)));
  const at = { x: 0, y: own > 1 ? 1 : axes.length - 1, ring: 0 };
  if (own === 1) { at.x = 1; at.y = 0; }
  if (data.axes) [at.x, at.y] = data.axes;
  Ritz.tint.at = data.colour === null ? -1 : data.colour;
  let held = null;
  const buckets = () => {
    const one = Ritz.tint.at < 0 ? null : Ritz.offers()[Ritz.tint.at];
    const key = [Ritz.tint.at, document.documentElement.dataset.theme, ...(one && one.plane ? [at.x, at.y] : [])].join();
    if (!held || held.key !== key) { const colour = Ritz.colourAt(at); held = { key, colour, mix: true, ...Ritz.buckets(rows.count, colour) }; }
    return held;
  };
  const describe = (i) => {
    const lines = [[rows.name(i)], [axes[at.x].name, Ritz.format(column(at.x)[i])], [axes[at.y].name, Ritz.format(column(at.y)[i])]], c = buckets().colour;
    if (c) lines.push([c.name, c.kinds ? c.kinds[c.decoded[i]] || "no value" : Ritz.amount(c, i)]);
    return lines;
  };
  const scored = () => Math.max(at.x, at.y) < own, counts = () => [at.x >= own, at.y >= own]; /* row numbers */
  const groups = () => (scored() && buckets().legend === "kinds" ? Ritz.kindsOf(held.buckets.filter((b) => !plane.hidden.has(b.kind)), column(at.x), column(at.y)) : []);
  const centres = () => groups().map((k) => ({ x: k.x, y: k.y, fill: k.bucket.fill, shape: k.bucket.shape, size: 7.5, text: plane.width < 500 && held.buckets.length > 6 ? "" : k.bucket.name, ink: Ritz.ink.text,
    lines: [[k.bucket.name], ["rows", k.n.toLocaleString("en")], ["mean of " + axes[at.x].name, Ritz.format(k.x)], ["mean of " + axes[at.y].name, Ritz.format(k.y)]] }));
  const coloured = () => buckets().legend === "kinds"; /* the centres of its kinds are drawn already */
  const placed = () => (!scored() || !data.further ? [] : data.further.flatMap((side) => side.names.map((text, j) => ({
    x: side.xy[at.x][j], y: side.xy[at.y][j], fill: side.kind === "rows" ? Ritz.ink.warm : Ritz.ink.kinds[3], shape: side.kind === "rows" ? 3 : 2, size: side.kind === "rows" ? 5 : 6, text, ink: side.kind === "rows" ? Ritz.ink.warm : Ritz.ink.kinds[3],
    lines: [[text], [side.what], [axes[at.x].name, Ritz.format(side.xy[at.x][j])], [axes[at.y].name, Ritz.format(side.xy[at.y][j])],
      ...(side.v ? [["v-test", Ritz.format(side.v[at.x][j], 2) + " and " + Ritz.format(side.v[at.y][j], 2)]] : [])] }))).filter((s) => Number.isFinite(s.x + s.y) && !(coloured() && s.text.startsWith(held.colour.name + "="))));
  const options = {
    label: place.getAttribute("aria-label"), count: rows.count, x: column(at.x), y: column(at.y), names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])],
    buckets, describe, lasso: true, equal: scored(), whole: counts(),
    spots: () => [...(plane && rows.count ? centres() : []), ...placed()],
    rings: () => (at.ring && plane ? groups().map((k) => ({ ...Ritz.ellipse(k, at.ring === 1 ? "rows" : "means"), colour: k.bucket.fill, dash: at.ring === 2 ? [4, 3] : [] })).filter((r) => r.points) : []),
    marks: (self) => (rows.names && rows.count <= 60 ? rows.names.map((text, i) => ({ x: options.x[i], y: options.y[i], text, colour: Ritz.ink.faint }))
      .sort((p, q) => Math.hypot(q.x, q.y) - Math.hypot(p.x, p.y)).slice(0, self.width < 500 ? 25 : 60) : []),
  };
  let plane = null;
  const legend = Ritz.el("div", { class: "legend" });
  const turn = () => { plane.update({ equal: scored(), whole: counts(), x: column(at.x), y: column(at.y), names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])] }); show(); };
  const offers = Ritz.offers(), ring = Ritz.select("Ellipses", ["none", "of rows (95 %)", "of means (95 %)"], 0, (i) => { at.ring = i; plane.draw(); });
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(axes.map((axis) => axis.name), at, own, turn),
    offers.length ? Ritz.select("Colour", ["none", ...offers.map((c) => c.name)], Ritz.tint.at + 1, (i) => { plane.hidden.clear(); Ritz.paint(i - 1); }) : null, ring));
  plane = new Ritz.Plane(place, options);
  plane.canvas.parentNode.after(legend);
  const show = () => {
    ring.hidden = buckets().legend !== "kinds" || !scored();
    Ritz.legend(legend, buckets().colour, buckets(), plane);
  };
  Ritz.tint.watch.push(() => { plane.draw(); show(); });
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
