"use strict";
Ritz.part("stability", (place, data) => Ritz.live(place, (width) => {
  if (data.maps) { place.replaceChildren(Ritz.strip(data, width)); return; }
  place.replaceChildren(data.shares ? Ritz.whiskers(data, width) : Ritz.lines(place, width, [{ x: data.k, y: data.value, kind: "first", name: "found again" }],
    { top: 1.03, percent: false, line: data.line, xname: "components", yname: "mean cos² of the worst direction" }).svg);
}));

/* One line a component: its share with its interval on the left, the angle between draws on the right. */
Ritz.whiskers = (data, width) => {
  const line = 26, top = 46, label = 52, gap = width < 520 ? 22 : 48, half = (width - label - gap - 16) / 2;
  const [share, low, high] = data.shares, [median, upper] = data.angles, count = share.length, height = top + count * line + 8;
  const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const most = Math.max(...high.filter(Number.isFinite), ...share) * 1.05;
  const sx = (v) => label + (v / most) * half, ax = (v) => label + half + gap + (v / 90) * half;
  for (const v of Ritz.ticks(0, most, half / 70)) svg.append(Ritz.line(sx(v), top - 10, sx(v), height - 6, "grid"), Ritz.text(sx(v), top - 15, Math.round(1000 * v) / 10 + " %", "tick", "middle"));
  for (const v of [0, 30, 60, 90]) svg.append(Ritz.line(ax(v), top - 10, ax(v), height - 6, "grid"), Ritz.text(ax(v), top - 15, v + "°", "tick", "middle"));
  svg.append(Ritz.text(label, 11, width < 520 ? "share" : "share of the " + data.whole, "name"), Ritz.text(ax(0), 11, width < 520 ? "angle" : "angle to a draw", "name"));
  for (let i = 0; i < count; i++) {
    const y = top + i * line + 8, kind = data.apart[i] ? "dot" : "dot none";
    svg.append(Ritz.text(label - 10, y + 4, data.axes[i], "", "end"), Ritz.line(sx(low[i]), y, sx(high[i]), y, "whisker"), Ritz.line(ax(median[i]), y, ax(upper[i]), y, "whisker"));
    for (const [x, lines] of [[sx(share[i]), [[data.axes[i]], ["share", Ritz.percent(share[i])], ["95 % interval", Ritz.percent(low[i]) + " to " + Ritz.percent(high[i])]]],
      [ax(median[i]), [[data.axes[i]], ["median angle", Ritz.format(median[i]) + "°"], ["95 % below", Ritz.format(upper[i]) + "°"]]]]) {
      const dot = Ritz.svg("circle", { cx: x, cy: y, r: 4.5, class: kind });
      Ritz.hint(dot, lines);
      svg.append(dot);
    }
  }
  return svg;
};

/* One dot a draw between "the same picture" and "nothing in common", with what chance would give. */
Ritz.strip = (data, width) => {
  const height = 74, left = 14, right = 14, sx = (v) => left + v * (width - left - right), y = 30;
  const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  svg.append(Ritz.line(sx(0), y, sx(1), y, "zero"), Ritz.line(sx(data.chance), y - 16, sx(data.chance), y + 16, "limit"));
  svg.append(Ritz.text(sx(data.chance) - 4, y - 19, "chance", "tick", "end"));
  for (const v of [0, 0.25, 0.5, 0.75, 1]) svg.append(Ritz.text(sx(v), y + 22, Math.round(100 * v) + " %", "tick", v === 0 ? "start" : v === 1 ? "end" : "middle"));
  svg.append(Ritz.text(left, height - 4, "not found again", "name"));
  for (const v of data.maps) {
    const dot = Ritz.svg("circle", { cx: sx(Math.min(v, 1)), cy: y, r: 5, class: "dot", opacity: 0.5 });
    Ritz.hint(dot, [["not found again", Ritz.percent(v)]]);
    svg.append(dot);
  }
  return svg;
};
