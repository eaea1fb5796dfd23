"use strict";
Ritz.part("stability", (place, data) => Ritz.live(place, (width) => {
  const frame = Ritz.lines(place, width, [{ x: data.k, y: data.value, kind: "first", name: "found again" }],
    { top: 1.03, percent: false, line: data.line, xname: "components", yname: "mean cos² of the worst direction" });
  place.replaceChildren(frame.svg);
}));
