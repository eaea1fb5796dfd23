"use strict";
/* Shares as bars, what noise reaches as a line, and below, on the same scale, the answer of every rule. */
Ritz.part("scree", (place, data) => {
  Ritz.live(place, (width) => {
    const count = data.shares.length, narrow = width < 520, names = narrow ? 102 : 112;
    const left = data.rules.length ? names : 46, right = 12, top = 22, plot = 210, line = 20;
    const rules = data.rules, height = top + plot + 44 + rules.length * line;
    const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const most = Math.min(40, Math.max(count, ...rules.map((rule) => rule.k), 1)), unit = Math.min(90, (width - left - right) / (most + 0.5));
    const sx = (k) => left + (k - 0.25) * unit, high = Math.max(...data.shares, ...(data.noise || [])) * 1.08;
    const sy = (v) => top + plot - (v / high) * plot;
    if (data.consensus) svg.append(Ritz.svg("rect", { x: sx(data.consensus) - unit / 2, y: top, width: unit, height: height - top - 6, class: "bar", opacity: 0.1 }));
    for (const v of Ritz.ticks(0, high, 4)) {
      svg.append(Ritz.line(left, sy(v), width - right, sy(v), "grid"), Ritz.text(left - 7, sy(v) + 4, Math.round(1000 * v) / 10 + " %", "tick", "end"));
    }
    data.shares.forEach((share, i) => {
      const bar = Ritz.svg("rect", { x: sx(i + 1) - 0.36 * unit, y: sy(share), width: 0.72 * unit, height: Math.max(0, top + plot - sy(share)), rx: 1.5,
        class: i < data.kept ? "bar" : "bar other" });
      const lines = [[data.axes[i]], [data.whole, Ritz.percent(share)]];
      if (data.noise && i < data.noise.length) lines.push(["chance reaches", Ritz.percent(data.noise[i])]);
      Ritz.hint(bar, lines);
      svg.append(bar);
    });
    if (data.noise) svg.append(Ritz.path(data.noise.map((v, i) => [sx(i + 1), sy(v)]), "curve second"));
    const every = Math.max(1, Math.ceil(26 / unit));
    for (let k = 1; k <= most; k += every) svg.append(Ritz.text(sx(k), top + plot + 16, String(k), "tick", "middle"));
    svg.append(Ritz.text(2, 12, "share of the " + data.whole, "name"));
    if (!rules.length) { place.replaceChildren(svg); return; }
    const y0 = top + plot + 36, largest = Math.max(...rules.map((rule) => rule.weight), 1e-9);
    rules.forEach((rule, i) => {
      const y = y0 + i * line;
      svg.append(Ritz.text(left - 10, y + 4, rule.name, rule.weight ? "" : "tick", "end"));
      svg.append(Ritz.line(left, y, width - right, y, "grid"));
      const dot = Ritz.svg("circle", { cx: sx(Math.max(Math.min(rule.k, most), 0.25)), cy: y, r: rule.weight ? 4 + 4 * Math.sqrt(rule.weight / largest) : 4, class: rule.weight ? "dot" : "dot none" });
      Ritz.hint(dot, [[rule.name + ": " + rule.k], [rule.why], [rule.weight ? "weight " + rule.weight.toFixed(2) : "no vote on this data"]]);
      svg.append(dot);
      if (rule.k > most) svg.append(Ritz.text(sx(most) - 12, y + 4, rule.k + " →", "tick", "end"));
    });
    place.replaceChildren(svg);
  });
});
