"use strict";
Ritz.part("reconstruction", (place, data) => Ritz.live(place, (width) => {
  const series = [{ x: data.k, y: data.value, kind: "first", name: "left over" }];
  if (data.held) series.push({ x: data.held.k, y: data.held.value, kind: "second", name: "error of " + data.held.words });
  const frame = Ritz.lines(place, width, series, { xname: "components", yname: data.held ? "share of the " + data.whole + " left over; dashed: error of " + data.held.words : "share of the " + data.whole + " left over" });
  place.replaceChildren(frame.svg);
}));
