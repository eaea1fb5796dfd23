"use strict";
/* Columns along a component, in deviations from their mean; pictures where rows are pictures. */
Ritz.part("preimages", (place, data) => {
  if (data.pictures) {
    const [high, wide] = data.shape;
    data.pictures.forEach((steps, i) => place.append(Ritz.el("h3", {}, data.axes[i]), Ritz.el("div", { class: "strip steps" },
      steps.map((step, p) => Ritz.framed(Ritz.picture(Ritz.numbers(step), high, wide, false), data.places[p])))));
    return;
  }
  let axis = 0;
  const chart = Ritz.el("div", {});
  const draw = (width) => {
    const columns = data.columns[axis], places = data.places.length, shown = columns.slice(0, 8);
    const every = columns.flatMap((c) => c.values), low = Math.min(0, ...every), high = Math.max(0, ...every);
    const right = Math.min(150, 0.3 * width);
    const frame = Ritz.frame(chart, width, 280, [0, places - 1], [low, high * 1.02], { percent: false, whole: false, right, yname: "deviations from the mean", xname: "" , top: 24});
    data.places.forEach((name, p) => frame.svg.append(Ritz.text(frame.sx(p), frame.box.top + frame.box.height + 18, name, "tick", "middle")));
    frame.svg.append(Ritz.text(frame.box.left + frame.box.width, frame.box.top + frame.box.height + 36, "quantile of the scores", "name", "end"));
    const ends = shown.map((c, i) => ({ i, y: frame.sy(c.values[places - 1]) })).sort((a, b) => a.y - b.y);
    for (let e = 1; e < ends.length; e++) ends[e].y = Math.max(ends[e].y, ends[e - 1].y + 15);
    /* Names stay above the ticks of the axis. */
    for (let e = ends.length - 1, most = frame.box.top + frame.box.height - 2; e >= 0; e--, most -= 15) ends[e].y = Math.min(ends[e].y, most);
    shown.forEach((c, i) => {
      const line = Ritz.path(c.values.map((v, p) => [frame.sx(p), frame.sy(v)]), "curve");
      line.setAttribute("class", "curve kind" + (i % 8));
      line.style.stroke = "var(--kind" + ((i % 8) + 1) + ")";
      frame.svg.append(line);
      c.values.forEach((v, p) => {
        const dot = Ritz.svg("circle", { cx: frame.sx(p), cy: frame.sy(v), r: 3.5 });
        dot.style.fill = "var(--kind" + ((i % 8) + 1) + ")";
        Ritz.hint(dot, [[c.name], [data.places[p] + " of the scores", Ritz.format(v) + " deviations"]]);
        frame.svg.append(dot);
      });
    });
    for (const end of ends) {
      const text = Ritz.text(frame.box.left + frame.box.width + 8, end.y + 4, Ritz.clip(shown[end.i].name, Math.floor(right / 7)), "", "start");
      text.style.fill = "var(--kind" + ((end.i % 8) + 1) + ")";
      frame.svg.append(text);
    }
    chart.replaceChildren(frame.svg);
  };
  place.append(Ritz.el("div", { class: "controls" }, Ritz.select("Along", data.axes, 0, (i) => { axis = i; draw(chart.clientWidth); })), chart);
  Ritz.live(chart, draw);
});
