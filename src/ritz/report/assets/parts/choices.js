"use strict";
/* Small maps, one for each number of neighbours; rows are coloured by their place along the first axis of the report's map. */
Ritz.part("choices", (place, data) => {
  const strip = Ritz.el("div", { class: "strip maps" });
  place.append(strip);
  for (const one of data.maps) {
    const canvas = Ritz.el("canvas", { class: "smooth", role: "img", "aria-label": "The map with " + one.k + " neighbours" });
    const own = one.k === data.own, kept = one.lcmc === null ? "" : ", LCMC " + Ritz.format(one.lcmc, 2);
    strip.append(Ritz.el("figure", { class: "small" }, canvas, Ritz.el("figcaption", {}, own ? Ritz.el("b", {}, one.k + " neighbours") : one.k + " neighbours", kept)));
    const x = Ritz.numbers(one.x), y = Ritz.numbers(one.y), shade = Ritz.numbers(one.shade);
    Ritz.live(canvas.parentNode, (width) => {
      const side = Math.round(width * (devicePixelRatio || 1)), ctx = canvas.getContext("2d");
      canvas.width = canvas.height = side;
      if (!x.length) { ctx.fillStyle = Ritz.ink.faint; ctx.font = side / 14 + "px " + Ritz.font; ctx.fillText("cannot be made", side / 8, side / 2); return; }
      const finite = (v) => v.filter(Number.isFinite), low = (v) => Math.min(...finite(v)), high = (v) => Math.max(...finite(v));
      const x0 = low(x), x1 = high(x), y0 = low(y), y1 = high(y), unit = 0.9 * side / Math.max(x1 - x0, y1 - y0, 1e-300);
      const r = Math.max(1, side / 140);
      for (let i = 0; i < x.length; i++) {
        if (!Number.isFinite(x[i])) continue;
        ctx.fillStyle = Ritz.css(Ritz.amounts(shade[i]));
        ctx.fillRect(side / 2 + (x[i] - (x0 + x1) / 2) * unit - r, side / 2 - (y[i] - (y0 + y1) / 2) * unit - r, 2 * r, 2 * r);
      }
    });
  }
});
