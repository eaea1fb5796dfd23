"use strict";
/* Numbers on a grid as a picture. */

/* values (rows from the top), colours by sign about zero or by amount between low and high. */
Ritz.picture = (values, high, wide, signed, range) => {
  const canvas = Ritz.el("canvas", { width: wide, height: high, class: "picture", "aria-hidden": "true" });
  const ctx = canvas.getContext("2d"), image = ctx.createImageData(wide, high);
  let low = Infinity, top = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > top) top = v; }
  if (range) [low, top] = range;
  const reach = Math.max(Math.abs(low), Math.abs(top)) || 1;
  for (let i = 0; i < values.length; i++) {
    const t = signed ? 0.5 + (0.5 * values[i]) / reach : (values[i] - low) / (top - low || 1);
    const rgb = signed ? Ritz.signs(t) : [0, 1, 2].map(() => Math.round(255 * Math.max(0, Math.min(1, t))));
    image.data.set([rgb[0], rgb[1], rgb[2], 255], 4 * i);
  }
  ctx.putImageData(image, 0, 0);
  canvas.addEventListener("pointermove", (event) => {
    const r = canvas.getBoundingClientRect(), cell = (t, most) => Math.max(0, Math.min(most - 1, Math.floor(t * most)));
    const i = cell((event.clientY - r.top) / r.height, high), j = cell((event.clientX - r.left) / r.width, wide);
    Ritz.tip({ x: event.clientX, y: event.clientY }, [["pixel " + (i + 1) + ", " + (j + 1)], ["value", Ritz.format(values[i * wide + j])]]);
  });
  canvas.addEventListener("pointerleave", () => Ritz.tip(null, null));
  return canvas;
};

/* A picture with its name below. */
Ritz.framed = (canvas, name) => Ritz.el("figure", { class: "small" }, canvas, Ritz.el("figcaption", {}, name));
