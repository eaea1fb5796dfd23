"use strict";
/* Words by their weights in two topics; the heaviest ones are named. */
Ritz.part("words", (place, data) => {
  const xy = data.xy.map(Ritz.numbers), names = data.axes.map((axis) => axis.name), count = data.names.length;
  const at = { x: data.begin[0], y: data.begin[1] };
  const make = () => ({ x: xy[at.x], y: xy[at.y], names: [Ritz.axis(data.axes[at.x]), Ritz.axis(data.axes[at.y])] });
  const size = (i) => xy[at.x][i] * xy[at.x][i] + xy[at.y][i] * xy[at.y][i];
  place.append(Ritz.el("div", { class: "controls" },
    ...Ritz.axisControls(names, at, names.length, () => plane.update(make()))));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count, ...make(), equal: true, buckets: () => Ritz.buckets(count, null), radius: 2.5,
    describe: (i) => [[data.names[i]], [names[at.x], Ritz.format(xy[at.x][i])], [names[at.y], Ritz.format(xy[at.y][i])]],
    marks: (self) => Array.from({ length: count }, (_, i) => i).sort((p, q) => size(q) - size(p)).slice(0, self.width < 500 ? 30 : 80)
      .map((i) => ({ x: self.options.x[i], y: self.options.y[i], text: data.names[i], colour: Ritz.ink.text })),
  });
  place.plane = plane;
});
