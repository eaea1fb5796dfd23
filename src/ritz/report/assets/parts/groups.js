"use strict";
Ritz.part("groups", (place, data) => {
  let axis = 0;
  const chart = Ritz.el("div", {});
  const draw = (width) => chart.replaceChildren(Ritz.bars(chart, width, data.names.map((name, g) => ({ name, value: data.shares[axis][g], note: Ritz.percent(data.shares[axis][g]),
    lines: [[name], ["contribution", Ritz.percent(data.shares[axis][g])]] }))));
  place.append(Ritz.el("div", { class: "controls" }, Ritz.select("Axis", data.axes, 0, (i) => { axis = i; draw(chart.clientWidth); })), chart);
  Ritz.live(chart, draw);
});
