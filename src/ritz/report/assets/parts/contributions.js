"use strict";
/* The largest contributions or cos² on an axis, or in the first plane; the line is what each would contribute if all did alike. */
Ritz.part("contributions", (place, data) => {
  const at = { x: 0, side: 0, what: 0 }, chart = Ritz.el("div", {}), note = Ritz.el("p", { class: "note" }), most = 20;
  const names = [...data.axes, ...(data.axes.length > 1 && data.sides.some((s) => s.all) ? [data.axes[0] + " and " + data.axes[1]] : [])];
  const value = (side, key, j) => {
    if (at.x < data.axes.length) return side[key][at.x][j];
    const [p, q] = [side[key][0][j], side[key][1][j]], [u, v] = data.values;
    return key === "cos2" ? p + q : (p * u + q * v) / (u + v || 1);
  };
  const draw = (width) => {
    const side = data.sides[at.side], key = at.what && side.cos2 ? "cos2" : "share", even = key === "share" ? 1 / side.total : undefined;
    if (at.x >= data.axes.length && !side.all) { at.x = 0; axis.querySelector("select").value = 0; }
    const items = Ritz.longest(side.names.map((_, j) => value(side, key, j) || 0), most).map((j) => {
      const v = value(side, key, j) || 0;
      return { name: side.names[j], value: v, share: v, note: Ritz.percent(v), lines: [[side.names[j]], [key === "share" ? "contribution to " + names[at.x] : "cos² on " + names[at.x], Ritz.percent(v)]] };
    });
    chart.replaceChildren(Ritz.bars(chart, width, items, even, even));
    note.textContent = (side.total > most ? "The " + most + " largest of " + side.total.toLocaleString("en") + " " + side.what + ". " : "") + (key === "share" ? "Line: " + (even < 0.0005 ? Number((100 * even).toPrecision(2)) + "\u00a0%" : Ritz.percent(even)) + ", if all contributed alike." : "");
  };
  const redraw = () => draw(chart.clientWidth), [axis] = Ritz.axisControls(names, at, data.axes.length, redraw, "Axis");
  place.append(Ritz.el("div", { class: "controls" },
    data.sides.length > 1 ? Ritz.select("Of", data.sides.map((s) => s.what), 0, (i) => { at.side = i; redraw(); }) : null,
    Ritz.select("Show", ["contribution", "cos²"], 0, (i) => { at.what = i; redraw(); }), axis), chart, note);
  Ritz.live(chart, draw);
});
