"use strict";
/* Curves over the number of neighbours, one measure at a time: the map, PCA, chance. */
Ritz.part("trust", (place, data) => {
  let at = 0;
  const box = Ritz.el("div"), legend = Ritz.el("div", { class: "legend" });
  place.append(Ritz.el("div", { class: "controls" }, Ritz.select("Measure", data.measures.map((m) => m.name), 0, (i) => { at = i; draw(box.clientWidth); })), box, legend);
  const draw = (width) => {
    if (!width) return;
    const key = data.measures[at].key, series = [{ y: data.map[key], kind: "first", name: data.name }];
    if (data.plain) series.push({ y: data.plain[key], kind: "third", name: data.plainName });
    series.push({ y: data.chance[key], kind: "second", name: "chance" });
    const every = series.flatMap((s) => s.y), low = Math.min(0, ...every) < 0 ? Math.min(...every) : key === "lcmc" ? 0 : Math.min(...every) - 0.02, high = Math.max(...every) * 1.03 + 1e-9;
    const frame = Ritz.frame(box, width, Math.min(320, Math.max(220, width * 0.4)), [data.k[0], data.k[data.k.length - 1]], [low, high],
      { percent: false, xname: "neighbours", yname: data.measures[at].name + ": " + data.measures[at].says, top: 26 });
    for (const s of series) {
      const points = data.k.map((k, i) => [frame.sx(k), frame.sy(s.y[i])]);
      frame.svg.append(Ritz.path(points, "curve " + s.kind));
      points.forEach(([x, y], i) => {
        const dot = Ritz.svg("circle", { cx: x, cy: y, r: points.length > 25 ? 2 : 3, class: "dot " + s.kind });
        Ritz.hint(dot, [[s.name], [data.k[i] + " neighbours", Ritz.format(s.y[i])]]);
        frame.svg.append(dot);
      });
    }
    box.replaceChildren(frame.svg);
    legend.replaceChildren(...series.map((s) => Ritz.el("span", { class: "choice" },
      Ritz.svg("svg", { viewBox: "0 0 22 10", class: "key", "aria-hidden": "true" }, Ritz.line(1, 5, 21, 5, "curve " + s.kind)), s.name)));
  };
  Ritz.live(box, draw);
});

/* The co-ranking matrix in cells: blue below chance, red above, on a logarithmic scale. */
Ritz.part("trust-ranks", (place) => {
  const data = Ritz.json("trust").ranks, side = data.side;
  Ritz.live(place, (width) => {
    const size = Math.min(width, 380), left = 30, top = 4, room = size - left - 8, cell = room / side;
    const svg = Ritz.svg("svg", { width: size, height: room + top + 26, viewBox: `0 0 ${size} ${room + top + 26}`, "aria-hidden": "true" });
    const most = Math.log2(side);
    for (let i = 0; i < side; i++) for (let j = 0; j < side; j++) {
      const v = data.values[i * side + j], t = 0.5 + 0.5 * Math.max(-1, Math.min(1, v / most));
      const mark = Ritz.svg("rect", { x: left + j * cell, y: top + i * cell, width: cell + 0.5, height: cell + 0.5, fill: Ritz.css(Ritz.signs(t)) });
      Ritz.hint(mark, [[v <= -6 ? "hardly ever" : Ritz.format(Math.pow(2, v), 2) + " times chance"]]);
      svg.append(mark);
    }
    const turned = Ritz.text(-(top + room / 2), 12, "rank among the rows", "name", "middle");
    turned.setAttribute("transform", "rotate(-90)");
    svg.append(turned, Ritz.text(left + room / 2, top + room + 18, "rank on the map", "name", "middle"));
    place.replaceChildren(svg);
  });
});

/* Distances of pairs before and after. */
Ritz.part("trust-pairs", (place) => {
  const [x, y] = Ritz.json("trust").pairs;
  Ritz.live(place, (width) => {
    const size = Math.min(width, 380), far = Math.max(...x) * 1.02 || 1, high = Math.max(...y) * 1.02 || 1;
    const frame = Ritz.frame(place, size, size - 4, [0, far], [0, high], { percent: false, xname: "distance of the rows", yname: "distance on the map", top: 22, bottom: 38, whole: false });
    for (const v of Ritz.ticks(0, far, frame.box.width / 70)) frame.svg.append(Ritz.text(frame.sx(v), frame.box.top + frame.box.height + 15, Ritz.format(v), "tick", "middle"));
    for (let i = 0; i < x.length; i++) {
      const dot = Ritz.svg("circle", { cx: frame.sx(x[i]).toFixed(1), cy: frame.sy(y[i]).toFixed(1), r: 1.3, class: "dot faint" });
      Ritz.hint(dot, [["a pair of rows"], ["distance", Ritz.format(x[i])], ["on the map", Ritz.format(y[i])]]);
      frame.svg.append(dot);
    }
    place.replaceChildren(frame.svg);
  });
});
