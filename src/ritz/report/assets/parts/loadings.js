"use strict";
Ritz.part("loadings", (place, data) => {
  const at = { x: 0 };
  const chart = Ritz.el("div", {});
  const draw = (width) => chart.replaceChildren(Ritz.bars(chart, width, data.columns[at.x].map((c) => ({
    name: c.name, value: c.loading, share: c.share, note: Ritz.percent(c.share),
    lines: [[c.name], ["loading", Ritz.format(c.loading)], ["contribution", Ritz.percent(c.share)]],
  })), data.even));
  const names = data.axes.map((name, i) => name + " (" + Ritz.percent(data.shares[i]) + ")");
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, () => draw(chart.clientWidth), "Component")), chart);
  if (data.total > data.columns[0].length) place.append(Ritz.el("p", { class: "note" }, data.columns[0].length + " of " + data.total.toLocaleString("en") + " columns, largest first."));
  Ritz.live(chart, draw);
});
