"use strict";
Ritz.part("scores", (place, data) => {
  const rows = Ritz.rows();
  const axes = [...rows.axes, { name: "row number" }];
  const column = (a) => (a < rows.axes.length ? rows.scores[a] : (rows.places = rows.places || Float64Array.from({ length: rows.count }, (_, i) => rows.number(i))));
  const at = { x: 0, y: rows.axes.length > 1 ? 1 : axes.length - 1, colour: data.colour === null ? -1 : data.colour };
  if (rows.axes.length === 1) { at.x = 1; at.y = 0; }
  if (data.axes) [at.x, at.y] = data.axes;
  const colour = () => (at.colour < 0 ? null : rows.colours[at.colour]);
  let held = null;
  const buckets = () => {
    const key = at.colour + document.documentElement.dataset.theme;
    if (!held || held.key !== key) held = { key, ...Ritz.buckets(rows.count, colour()) };
    return held;
  };
  const describe = (i) => {
    const lines = [[rows.name(i)], [axes[at.x].name, Ritz.format(column(at.x)[i])], [axes[at.y].name, Ritz.format(column(at.y)[i])]];
    const c = colour();
    if (c) lines.push([c.name, c.kinds ? c.kinds[c.decoded[i]] || "no value" : Ritz.format(c.decoded[i])]);
    return lines;
  };
  const options = {
    label: place.getAttribute("aria-label"), count: rows.count, x: column(at.x), y: column(at.y), names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])],
    buckets, describe, lasso: true, equal: rows.equal,
    marks: () => (rows.names && rows.count <= 60 ? rows.names.map((text, i) => ({ x: options.x[i], y: options.y[i], text, colour: Ritz.ink.faint })) : []),
  };
  const legend = Ritz.el("div", { class: "legend" });
  const turn = () => plane.update({ equal: rows.equal && Math.max(at.x, at.y) < rows.axes.length, x: column(at.x), y: column(at.y), names: [Ritz.axis(axes[at.x]), Ritz.axis(axes[at.y])] });
  const names = axes.map((axis) => axis.name);
  place.append(Ritz.el("div", { class: "controls" },
    Ritz.select("Across", names, at.x, (i) => { at.x = i; turn(); }),
    Ritz.select("Up", names, at.y, (i) => { at.y = i; turn(); }),
    rows.colours.length ? Ritz.select("Colour", ["none", ...rows.colours.map((c) => c.name)], at.colour + 1, (i) => { at.colour = i - 1; plane.recolour(buckets); show(); }) : null));
  const plane = new Ritz.Plane(place, options);
  plane.canvas.parentNode.after(legend);
  const show = () => Ritz.legend(legend, colour(), buckets(), plane);
  Ritz.redraws.push(show);
  show();
  place.plane = plane;
});
