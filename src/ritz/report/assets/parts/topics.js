"use strict";
/* The words of a topic: one end to the right, the other to the left. */
Ritz.part("topics", (place, data) => {
  const at = { x: 0 };
  const chart = Ritz.el("div", {}), note = Ritz.el("p", { class: "note" });
  const draw = (width) => {
    chart.replaceChildren(Ritz.bars(chart, width, data.topics[at.x].map((w) => ({
      name: w.name, value: w.weight, note: Ritz.format(w.weight, 2), lines: [[w.name], ["weight", Ritz.format(w.weight)], ["share of the topic", Ritz.percent(w.weight * w.weight)]],
    }))));
    const weak = data.above !== null && at.x >= data.above;
    note.textContent = weak ? "This topic is not stronger than those of random documents: its words may have come together by chance." : "";
    note.hidden = !weak;
  };
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(data.axes, at, data.axes.length, () => draw(chart.clientWidth), "Topic")), note, chart);
  Ritz.live(chart, draw);
});
