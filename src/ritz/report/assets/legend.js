"use strict";
/* Kinds as buttons that hide and show them; amounts as a bar. */
Ritz.legend = (place, colour, held, plane) => {
  place.replaceChildren();
  if (!colour) return;
  const word = colour.percent ? Ritz.percent : Ritz.format;
  if (held.legend === "amounts") {
    const bar = Ritz.el("canvas", { width: 160, height: 1, "aria-hidden": "true" }), ctx = bar.getContext("2d");
    for (let i = 0; i < 160; i++) { ctx.fillStyle = Ritz.css(Ritz.amounts(i / 159)); ctx.fillRect(i, 0, 1, 1); }
    place.append(Ritz.el("bdi", {}, Ritz.clip(colour.name, 40)), Ritz.el("span", {}, word(colour.values.lo)), bar, Ritz.el("span", {}, word(colour.values.hi)));
    return;
  }
  for (const bucket of held.buckets) {
    const icon = Ritz.svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, Ritz.svg("path", { d: Ritz.outline(bucket.shape), fill: bucket.fill }));
    const button = Ritz.el("button", { type: "button", "aria-pressed": String(!plane.hidden.has(bucket.kind)), title: bucket.name, onclick: () => {
      if (plane.hidden.has(bucket.kind)) plane.hidden.delete(bucket.kind); else plane.hidden.add(bucket.kind);
      button.setAttribute("aria-pressed", String(!plane.hidden.has(bucket.kind)));
      plane.draw();
    } }, icon, Ritz.el("bdi", {}, Ritz.clip(bucket.name, 40)), Ritz.el("span", { class: "tick" }, " (" + bucket.rows.length.toLocaleString("en") + ")"));
    place.append(button);
  }
};

/* A shape of points.js as an SVG path: it draws on a recorder instead of a canvas. */
Ritz.outline = (shape) => {
  const out = [];
  Ritz.SHAPES[shape]({
    arc: (x, y, r) => out.push(`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`),
    rect: (x, y, w, h) => out.push(`M${x} ${y}h${w}v${h}h${-w}z`),
    moveTo: (x, y) => out.push(`M${x} ${y}`), lineTo: (x, y) => out.push(`L${x} ${y}`), closePath: () => out.push("z"),
  }, 0, 0, 5);
  return out.join("");
};
