"use strict";
/* One choice of axes for all charts: whoever turns one turns every chart that has these axes. */

Ritz.turned = [];

/* names: what can be chosen; at: {x, y}, numbers of names, which is changed; own: how many of the names are axes that other charts have too;
   change() draws again; one: the label of a chart of a single axis, which follows the one across. Gives the controls. */
Ritz.axisControls = (names, at, own, change, one) => {
  const boxes = {}, ways = one ? ["x"] : ["x", "y"], label = { x: one || "Across", y: "Up" };
  const chart = { take: (way, i) => {
    if (!boxes[way] || i >= own || at[way] === i) return;
    at[way] = i;
    boxes[way].querySelector("select").value = i;
    change();
  } };
  Ritz.turned.push(chart);
  for (const way of ways) boxes[way] = Ritz.select(label[way], names, at[way], (i) => {
    at[way] = i;
    change();
    if (i < own) for (const other of Ritz.turned) if (other !== chart) other.take(way, i);
  });
  return ways.map((way) => boxes[way]);
};

/* The colour of rows, chosen once for all charts of rows: a number in Ritz.offers(), −1 for none. */
Ritz.tint = { at: -1, watch: [] };
Ritz.paint = (i) => { Ritz.tint.at = i; for (const show of Ritz.tint.watch) show(); };

/* What rows can be coloured by: columns, and how the plane at = {x, y} shows them. */
Ritz.offers = () => {
  const rows = Ritz.rows(), more = [];
  if (rows.norms) more.push({ name: "cos² in this plane", plane: "cos2" });
  if (rows.sums) more.push({ name: "contribution to this plane", plane: "share" });
  return [...rows.colours, ...more];
};
Ritz.colourAt = (at) => {
  const one = Ritz.tint.at < 0 ? null : Ritz.offers()[Ritz.tint.at];
  return one && one.plane ? Ritz.shown(one, at) : one;
};

/* cos² of rows in a plane, or their contributions to it, as amounts. */
Ritz.shown = (one, at) => {
  const rows = Ritz.rows(), both = [...new Set([at.x, at.y])].filter((a) => a < rows.scores.length);
  const value = one.plane === "cos2" ? (i) => both.reduce((sum, a) => sum + rows.scores[a][i] ** 2, 0) / rows.norms[i]
    : (i) => both.reduce((sum, a) => sum + rows.scores[a][i] ** 2, 0) / both.reduce((sum, a) => sum + rows.sums[a], 0);
  const decoded = Float64Array.from({ length: rows.count }, (_, i) => value(i));
  let hi = 0;
  for (const v of decoded) if (v > hi) hi = v;
  return { name: one.name, percent: one.plane === "share", values: { lo: 0, hi: one.plane === "cos2" ? 1 : hi || 1 }, decoded };
};
Ritz.amount = (colour, i) => (colour.percent ? Ritz.percent : Ritz.format)(colour.decoded[i]);
