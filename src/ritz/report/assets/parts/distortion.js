"use strict";
Ritz.part("distortion", (place, data) => {
  const rows = Ritz.rows(), axes = rows.axes;
  let at = 0;
  const held = data.measures.map((m) => ({ name: m.name, values: m.values }));
  const buckets = () => Ritz.buckets(rows.count, held[at]);
  const note = Ritz.el("p", { class: "note" });
  const legend = Ritz.el("div", { class: "legend" });
  place.append(Ritz.el("div", { class: "controls" }, Ritz.select("Colour", data.measures.map((m) => m.name), 0, (i) => { at = i; plane.recolour(buckets); show(); })));
  const plane = new Ritz.Plane(place, {
    label: place.getAttribute("aria-label"), count: rows.count, x: rows.scores[0], y: rows.scores[1], names: [Ritz.axis(axes[0]), Ritz.axis(axes[1])], buckets, equal: true,
    describe: (i) => [[rows.name(i)], ...held.map((m) => [m.name, Ritz.format((m.decoded = m.decoded || Ritz.numbers(m.values))[i], 2)])],
  });
  plane.canvas.parentNode.after(legend, note);
  const show = () => { Ritz.legend(legend, held[at], buckets(), plane); note.textContent = data.measures[at].name + ": " + data.measures[at].note + "."; };
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
