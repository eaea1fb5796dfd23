"use strict";
Ritz.part("reconstruction", (place, data) => Ritz.live(place, (width) => {
  const series = [{ x: data.k, y: data.value, kind: "first", name: "left over" }];
  if (data.held) series.push({ x: data.held.k, y: data.held.value, kind: "second", name: "error of " + data.held.words });
  const left = width < 480 ? "share left over" : "share of the " + data.whole + " left over";
  const yname = data.held ? left + (width < 480 ? "; dashed: held out" : "; dashed: error of " + data.held.words) : left;
  const frame = Ritz.lines(place, width, series, { xname: "components", yname });
  place.replaceChildren(frame.svg);
}));
