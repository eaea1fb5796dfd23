"use strict";
/* Eigenvalues as dots on one line of numbers, the next one, which was not asked for, hollow. */
Ritz.part("spectrum", (place, data) => Ritz.live(place, (width) => {
  const line = 26, top = 42, label = 58, count = data.values.length, more = data.next !== null ? 1 : 0, height = top + (count + more) * line + 6;
  const svg = Ritz.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const every = [...data.values, ...(more ? [data.next] : [])], low = Math.min(0, ...every), high = Math.max(...every) * 1.06 || 1;
  const sx = (v) => label + ((v - low) / (high - low)) * (width - label - 20);
  for (const v of Ritz.ticks(low, high, (width - label) / 90)) svg.append(Ritz.line(sx(v), top - 8, sx(v), height - 6, "grid"), Ritz.text(sx(v), top - 13, Ritz.format(v, 2), "tick", "middle"));
  svg.append(Ritz.text(2, 11, data.what, "name"));
  every.forEach((v, i) => {
    const y = top + i * line + 9, name = i < count ? data.axes[i] : "next";
    svg.append(Ritz.text(label - 10, y + 4, name, i < count ? "" : "tick", "end"), Ritz.line(sx(0), y, sx(v), y, "whisker"));
    const dot = Ritz.svg("circle", { cx: sx(v), cy: y, r: 4.5, class: i < count ? "dot" : "dot none" });
    Ritz.hint(dot, i < count ? [[name], [data.what, Ritz.format(v, 5)], ["gap to the next", (i === count - 1 ? "at least " : "") + Ritz.format(data.gaps[i], 2)]] : [["the next one"], [data.smallest ? "at least" : "at most", Ritz.format(v, 5)]]);
    svg.append(dot);
  });
  place.replaceChildren(svg);
}));
