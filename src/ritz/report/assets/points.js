"use strict";
/* Points in buckets of one colour and shape each, so that 100,000 of them are a few thousand strokes of one colour. */

/* colour: null, or a column of the page's rows. Gives {buckets: [{fill, shape, rows, name}], legend}. */
Ritz.buckets = (count, colour) => {
  const ink = Ritz.ink;
  if (!colour) {
    return { buckets: [{ fill: ink.accent, shape: 0, rows: Int32Array.from({ length: count }, (_, i) => i) }], legend: null };
  }
  if (colour.kinds) {
    const codes = (colour.decoded = colour.decoded || Ritz.numbers(colour.codes));
    const rows = colour.kinds.map(() => []), none = [];
    for (let i = 0; i < count; i++) (rows[codes[i]] || none).push(i);
    const buckets = colour.kinds.map((name, k) => ({ fill: k === colour.other ? ink.faint : ink.kinds[k % ink.kinds.length], shape: k % 8, rows: Int32Array.from(rows[k]), name, kind: k }));
    if (none.length) buckets.unshift({ fill: ink.faint, shape: 0, rows: Int32Array.from(none), name: "no value", kind: -1 });
    return { buckets, legend: "kinds" };
  }
  const values = (colour.decoded = colour.decoded || Ritz.numbers(colour.values));
  const shades = 32, { lo, hi } = colour.values;
  const rows = Array.from({ length: shades }, () => []), none = [];
  for (let i = 0; i < count; i++) {
    const t = (values[i] - lo) / (hi - lo);
    (Number.isNaN(t) ? none : rows[Math.max(0, Math.min(shades - 1, Math.floor(t * shades)))]).push(i);
  }
  const buckets = rows.map((list, k) => ({ fill: Ritz.css(Ritz.amounts((k + 0.5) / shades)), shape: 0, rows: Int32Array.from(list) }));
  if (none.length) buckets.unshift({ fill: ink.faint, shape: 0, rows: Int32Array.from(none) });
  return { buckets, legend: "amounts" };
};

/* Shapes: no picture depends on colour alone. */
Ritz.SHAPES = [
  (c, x, y, r) => c.arc(x, y, r, 0, 6.2832),
  (c, x, y, r) => c.rect(x - 0.86 * r, y - 0.86 * r, 1.72 * r, 1.72 * r),
  (c, x, y, r) => Ritz.polygon(c, x, y, 1.25 * r, 3, -Math.PI / 2),
  (c, x, y, r) => Ritz.polygon(c, x, y, 1.2 * r, 4, 0),
  (c, x, y, r) => Ritz.polygon(c, x, y, 1.25 * r, 3, Math.PI / 2),
  (c, x, y, r) => { c.rect(x - 1.15 * r, y - 0.4 * r, 2.3 * r, 0.8 * r); c.rect(x - 0.4 * r, y - 1.15 * r, 0.8 * r, 2.3 * r); },
  (c, x, y, r) => Ritz.polygon(c, x, y, 1.15 * r, 6, 0),
  (c, x, y, r) => Ritz.polygon(c, x, y, 1.15 * r, 5, -Math.PI / 2),
];
Ritz.polygon = (c, x, y, r, sides, turn) => {
  for (let i = 0; i < sides; i++) {
    const a = turn + (2 * Math.PI * i) / sides;
    if (i) c.lineTo(x + r * Math.cos(a), y + r * Math.sin(a)); else c.moveTo(x + r * Math.cos(a), y + r * Math.sin(a));
  }
  c.closePath();
};

/* Size of a point by how many there are. */
Ritz.radius = (count) => (count <= 300 ? 4.2 : count <= 3000 ? 3 : count <= 20000 ? 1.8 : 1.1);

/* x, y: coordinates; to: {ax, bx, ay, by} with pixel = a·value + b; inside box. held.mix: kinds take turns, so that none covers another. */
Ritz.drawPoints = (ctx, held, x, y, to, box, radius, hidden) => {
  const right = box.left + box.width + radius, bottom = box.top + box.height + radius, left = box.left - radius, top = box.top - radius;
  const plain = radius < 2.5, side = 2 * radius;
  const one = (i, shape) => {
    const px = to.ax * x[i] + to.bx, py = to.ay * y[i] + to.by;
    if (!(px > left && px < right && py > top && py < bottom)) return;
    if (plain) { ctx.fillRect(px - radius, py - radius, side, side); return; }
    ctx.beginPath();
    shape(ctx, px, py, radius);
    ctx.fill();
  };
  ctx.globalAlpha = radius < 1.5 ? 0.5 : radius < 2.5 ? 0.65 : 0.85;
  if (held.mix && held.buckets.length > 1) {
    const { rows, of } = Ritz.mixed(held);
    for (let j = 0; j < rows.length; j++) {
      const bucket = held.buckets[of[j]];
      if (hidden && hidden.has(bucket.kind)) continue;
      ctx.fillStyle = bucket.fill;
      one(rows[j], Ritz.SHAPES[bucket.shape]);
    }
  } else for (const bucket of held.buckets) {
    if (hidden && hidden.has(bucket.kind)) continue;
    ctx.fillStyle = bucket.fill;
    for (const i of bucket.rows) one(i, Ritz.SHAPES[bucket.shape]);
  }
  ctx.globalAlpha = 1;
};

/* Which point is nearest: cells of a grid over the data, rebuilt when axes change. */
Ritz.Grid = class {
  constructor(x, y, count) {
    this.x = x; this.y = y;
    this.side = Math.max(1, Math.min(256, Math.floor(Math.sqrt(count / 2))));
    this.x0 = Infinity; this.y0 = Infinity;
    let x1 = -Infinity, y1 = -Infinity;
    for (let i = 0; i < count; i++) {
      if (x[i] < this.x0) this.x0 = x[i]; if (x[i] > x1) x1 = x[i];
      if (y[i] < this.y0) this.y0 = y[i]; if (y[i] > y1) y1 = y[i];
    }
    this.dx = (x1 - this.x0) / this.side || 1; this.dy = (y1 - this.y0) / this.side || 1;
    this.x1 = x1; this.y1 = y1;
    this.cells = new Map();
    for (let i = 0; i < count; i++) {
      const key = this.cell(x[i], this.x0, this.dx) * 1000 + this.cell(y[i], this.y0, this.dy);
      const held = this.cells.get(key);
      if (held) held.push(i); else this.cells.set(key, [i]);
    }
  }
  cell(v, v0, d) { return Math.max(0, Math.min(this.side - 1, Math.floor((v - v0) / d))); }
  /* the nearest point within reach pixels of (px, py), or −1 */
  nearest(px, py, to, reach, allowed) {
    const gx = (p) => (p - to.bx) / to.ax, gy = (p) => (p - to.by) / to.ay;
    const i0 = this.cell(gx(px - reach), this.x0, this.dx), i1 = this.cell(gx(px + reach), this.x0, this.dx);
    const j0 = this.cell(gy(py + reach), this.y0, this.dy), j1 = this.cell(gy(py - reach), this.y0, this.dy);
    let best = -1, least = reach * reach;
    for (let i = i0; i <= i1; i++) for (let j = j0; j <= j1; j++) for (const p of this.cells.get(i * 1000 + j) || []) {
      const ex = to.ax * this.x[p] + to.bx - px, ey = to.ay * this.y[p] + to.by - py, far = ex * ex + ey * ey;
      if (far < least && (!allowed || allowed(p))) { least = far; best = p; }
    }
    return best;
  }
};
