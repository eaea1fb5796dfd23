"use strict";
/* Many points as a density: a cell is as dark as its count on a logarithmic scale, and its colour is the mean of the colours in it, so no kind of
   rows is painted over another. */

Ritz.DENSE = 20000;
Ritz.CELL = 2;

Ritz.rgb = (css) => {
  if (css[0] === "#") return [1, 3, 5].map((i) => parseInt(css.slice(i, i + 2), 16));
  return css.match(/\d+(\.\d+)?/g).slice(0, 3).map(Number);
};

Ritz.drawDensity = (ctx, buckets, x, y, to, box, hidden) => {
  const wide = Math.max(1, Math.ceil(box.width / Ritz.CELL)), high = Math.max(1, Math.ceil(box.height / Ritz.CELL));
  const count = new Float32Array(wide * high), sums = [0, 1, 2].map(() => new Float32Array(wide * high));
  for (const bucket of buckets) {
    if (hidden && hidden.has(bucket.kind)) continue;
    const rgb = Ritz.rgb(bucket.fill);
    for (const i of bucket.rows) {
      const u = Math.floor((to.ax * x[i] + to.bx - box.left) / Ritz.CELL), v = Math.floor((to.ay * y[i] + to.by - box.top) / Ritz.CELL);
      if (!(u >= 0 && u < wide && v >= 0 && v < high)) continue;
      const at = v * wide + u;
      count[at] += 1;
      for (let c = 0; c < 3; c++) sums[c][at] += rgb[c];
    }
  }
  let most = 1;
  for (const n of count) if (n > most) most = n;
  const canvas = Ritz.el("canvas", { width: wide, height: high }), own = canvas.getContext("2d"), image = own.createImageData(wide, high);
  for (let at = 0; at < count.length; at++) {
    const n = count[at];
    if (!n) continue;
    for (let c = 0; c < 3; c++) image.data[4 * at + c] = sums[c][at] / n;
    image.data[4 * at + 3] = 255 * (0.22 + 0.78 * (most > 1 ? Math.log1p(n) / Math.log1p(most) : 1));
  }
  own.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(canvas, box.left, box.top, wide * Ritz.CELL, high * Ritz.CELL);
  ctx.imageSmoothingEnabled = true;
};

/* All rows of all buckets in an order that has nothing to do with the buckets; always the same one. */
Ritz.mixed = (held) => {
  if (held.mixed) return held.mixed;
  const total = held.buckets.reduce((sum, bucket) => sum + bucket.rows.length, 0), rows = new Int32Array(total), of = new Int32Array(total);
  let at = 0;
  held.buckets.forEach((bucket, b) => { for (const i of bucket.rows) { rows[at] = i; of[at++] = b; } });
  let state = 12345;
  for (let i = total - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [rows[i], rows[j]] = [rows[j], rows[i]];
    [of[i], of[j]] = [of[j], of[i]];
  }
  return (held.mixed = { rows, of });
};

/* Centres of kinds, and ellipses: of: "rows" (where a further row would lie) or "means" (where the mean would), at 95 %; as ritz.insight.ellipse. */
Ritz.kindsOf = (buckets, x, y) => buckets.filter((bucket) => bucket.name !== undefined && bucket.kind >= 0 && bucket.rows.length).map((bucket) => {
  const n = bucket.rows.length;
  let mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;
  for (const i of bucket.rows) { mx += x[i] / n; my += y[i] / n; }
  for (const i of bucket.rows) { const a = x[i] - mx, b = y[i] - my; sxx += a * a; sxy += a * b; syy += b * b; }
  const d = Math.max(1, n - 1);
  return { bucket, n, x: mx, y: my, xx: sxx / d, xy: sxy / d, yy: syy / d };
});
Ritz.ellipse = (kind, of) => {
  const n = kind.n, free = n - 2;
  if (free < 1) return null;
  const quantile = (free / 2) * (Math.pow(0.05, -2 / free) - 1); // of F with 2 and n − 2 degrees of freedom
  const square = of === "means" ? ((2 * (n - 1)) / free) * (quantile / n) : ((2 * (n * n - 1)) / (n * free)) * quantile;
  return Ritz.ring(kind, square);
};
/* Points of {p : (p − m)ᵀ C⁻¹ (p − m) = square}, C = [xx, xy; xy, yy], and its half axes. */
Ritz.ring = (kind, square) => {
  const half = (kind.xx + kind.yy) / 2, gap = Math.hypot((kind.xx - kind.yy) / 2, kind.xy), turn = Math.atan2(2 * kind.xy, kind.xx - kind.yy) / 2;
  const a = Math.sqrt(square * Math.max(0, half + gap)), b = Math.sqrt(square * Math.max(0, half - gap)), points = [];
  for (let t = 0; t <= 72; t++) {
    const u = a * Math.cos((t * Math.PI) / 36), v = b * Math.sin((t * Math.PI) / 36);
    points.push([kind.x + u * Math.cos(turn) - v * Math.sin(turn), kind.y + u * Math.sin(turn) + v * Math.cos(turn)]);
  }
  return { points, axes: [a, b] };
};
