"use strict";
/* A plane on a canvas: points, arrows, names, limits; zoom, hover, keyboard; a lasso where it is asked for.

   options: label, names: [x, y] texts, count, x, y, buckets(), radius, describe(i) → tooltip lines, say(i) → text,
            arrows: [{x, y, text, alpha, dash, lines}], marks: [{x, y, text, colour}] names to write, equal, whole: [x, y] which axes count, circle, limits: [x, y],
            spots(): [{x, y, fill, shape, size, text, lines}] further points, rings(): [{points, colour, dash}] lines in the plane,
            above: buckets from this one on lie over a density, lasso: true, extent (given instead of the range of the points),
            size(i) and alpha(i) for few points */

Ritz.Plane = class {
  constructor(place, options) {
    this.place = place;
    this.options = options;
    this.hidden = new Set();
    this.selected = null;
    this.focused = -1;
    this.mode = "move";
    this.canvas = Ritz.el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": options.label +
      ". Arrow keys go from point to point, plus and minus zoom, zero shows everything." });
    this.live = Ritz.el("div", { class: "hidden", "aria-live": "polite" });
    this.tools = Ritz.el("div", { class: "tools" },
      Ritz.button("+", "Zoom in", () => this.zoom(0.7)), Ritz.button("−", "Zoom out", () => this.zoom(1 / 0.7)),
      Ritz.button("⤢", "Show everything", () => this.reset()));
    place.append(Ritz.el("div", { class: "plane" }, this.canvas, this.tools), this.live);
    this.update({});
    this.listen();
    if (options.lasso) Ritz.addLasso(this);
    Ritz.live(this.canvas.parentNode, (width) => this.resize(width));
  }

  /* New coordinates, names or buckets; the view starts anew. */
  update(changes) {
    Object.assign(this.options, changes);
    const o = this.options;
    this.grid = o.count ? new Ritz.Grid(o.x, o.y, o.count) : null;
    this.view = null;
    this.focused = -1;
    if (this.width) this.draw();
  }

  recolour(buckets) { this.options.buckets = buckets; this.hidden.clear(); this.draw(); }

  resize(width) {
    const o = this.options;
    this.width = width;
    this.height = o.square ? Math.min(width, 640) : Math.round(Math.max(360, Math.min(0.7 * width, 640)));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + "px";
    this.ratio = ratio;
    this.box = { left: 46, top: 44, width: width - 58, height: this.height - 88 };
    this.view = null;
    this.draw();
  }

  fit() {
    const o = this.options, g = this.grid;
    let { x0, x1, y0, y1 } = o.extent || { x0: g.x0, x1: g.x1, y0: g.y0, y1: g.y1 };
    for (const a of [...(o.arrows || []), ...this.further()]) {
      if (!Number.isFinite(a.x + a.y)) continue;
      x0 = Math.min(x0, a.x); x1 = Math.max(x1, a.x); y0 = Math.min(y0, a.y); y1 = Math.max(y1, a.y);
    }
    if (!(x1 > x0)) { x0 -= 1; x1 += 1; }
    if (!(y1 > y0)) { y0 -= 1; y1 += 1; }
    const mx = o.extent ? 0 : 0.06 * (x1 - x0), my = o.extent ? 0 : 0.08 * (y1 - y0);
    const view = { x0: o.floor ? x0 : x0 - mx, x1: x1 + mx, y0: o.floor ? y0 : y0 - my, y1: y1 + my };
    if (o.equal) {
      const wide = (view.x1 - view.x0) / this.box.width, high = (view.y1 - view.y0) / this.box.height, unit = Math.max(wide, high);
      const cx = (view.x0 + view.x1) / 2, cy = (view.y0 + view.y1) / 2;
      view.x0 = cx - (unit * this.box.width) / 2; view.x1 = cx + (unit * this.box.width) / 2;
      view.y0 = cy - (unit * this.box.height) / 2; view.y1 = cy + (unit * this.box.height) / 2;
    }
    return view;
  }

  further() { return this.options.spots ? this.options.spots(this) : []; }

  to() {
    const v = this.view, b = this.box;
    const ax = b.width / (v.x1 - v.x0), ay = -b.height / (v.y1 - v.y0);
    return { ax, bx: b.left - ax * v.x0, ay, by: b.top + b.height - ay * v.y0 };
  }

  draw() {
    if (!this.width || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(null); });
  }

  paint(given) {
    const ctx = given || this.canvas.getContext("2d"), o = this.options, b = this.box;
    if (!this.view) this.view = this.fit();
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    Ritz.drawAxes(ctx, this.view, b, o.names.map((name) => Ritz.clip(name, 60)), o.whole);
    const to = this.to();
    ctx.save();
    ctx.beginPath();
    ctx.rect(b.left - 1, b.top - 1, b.width + 2, b.height + 2);
    ctx.clip();
    this.drawGround(ctx, to);
    this.drawRows(ctx, to);
    this.drawRings(ctx, to);
    this.drawArrows(ctx, to);
    this.drawSpots(ctx, to);
    if (!given) this.drawChosen(ctx, to);
    this.drawNames(ctx, to);
    ctx.restore();
    if (o.after && !given) o.after(this);
  }

  drawGround(ctx, to) {
    const o = this.options, b = this.box;
    if (o.circle) {
      ctx.strokeStyle = Ritz.ink.faint;
      ctx.beginPath();
      ctx.ellipse(to.bx, to.by, Math.abs(to.ax), Math.abs(to.ay), 0, 0, 6.2832);
      ctx.stroke();
    }
    const [lx, ly] = o.limits || [];
    if (lx) { const at = to.ax * lx + to.bx; Ritz.stroke(ctx, Ritz.ink.warm, at, b.top, at, b.top + b.height, [6, 4]); }
    if (ly) { const at = to.ay * ly + to.by; Ritz.stroke(ctx, Ritz.ink.warm, b.left, at, b.left + b.width, at, [6, 4]); }
  }

  drawRows(ctx, to) {
    const o = this.options;
    if (!o.count) return;
    if (o.size) {
      for (let i = 0; i < o.count; i++) {
        const px = to.ax * o.x[i] + to.bx, py = to.ay * o.y[i] + to.by, mark = o.mark(i);
        ctx.globalAlpha = o.alpha(i);
        ctx.fillStyle = mark.fill;
        ctx.beginPath();
        Ritz.SHAPES[mark.shape](ctx, px, py, o.size(i));
        ctx.fill();
      }
      ctx.globalAlpha = 1;
      return;
    }
    const held = o.buckets(), radius = o.radius || Ritz.radius(o.count);
    if (o.count <= Ritz.DENSE) { Ritz.drawPoints(ctx, held, o.x, o.y, to, this.box, radius, this.hidden); return; }
    const above = o.above === undefined ? held.buckets.length : o.above;
    Ritz.drawDensity(ctx, held.buckets.slice(0, above), o.x, o.y, to, this.box, this.hidden);
    Ritz.drawPoints(ctx, { buckets: held.buckets.slice(above) }, o.x, o.y, to, this.box, Math.max(2, radius), this.hidden);
  }

  drawRings(ctx, to) {
    for (const ring of this.options.rings ? this.options.rings(this) : []) {
      ctx.strokeStyle = ring.colour;
      ctx.lineWidth = ring.width || 1.6;
      ctx.setLineDash(ring.dash || []);
      ctx.beginPath();
      ring.points.forEach(([x, y], i) => (i ? ctx.lineTo(to.ax * x + to.bx, to.ay * y + to.by) : ctx.moveTo(to.ax * x + to.bx, to.ay * y + to.by)));
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.lineWidth = 1;
    }
  }

  drawSpots(ctx, to) {
    for (const spot of this.further()) {
      const px = to.ax * spot.x + to.bx, py = to.ay * spot.y + to.by;
      ctx.fillStyle = spot.fill;
      ctx.strokeStyle = Ritz.ink.paper;
      ctx.lineWidth = 2;
      ctx.beginPath();
      Ritz.SHAPES[spot.shape](ctx, px, py, spot.size || 5);
      ctx.stroke();
      ctx.fill();
      ctx.lineWidth = 1;
    }
  }

  drawArrows(ctx, to) {
    for (const a of this.options.arrows || []) {
      const px = to.ax * a.x + to.bx, py = to.ay * a.y + to.by, turn = Math.atan2(py - to.by, px - to.bx);
      ctx.globalAlpha = a.alpha === undefined ? 1 : a.alpha;
      ctx.lineWidth = 1.4;
      Ritz.stroke(ctx, a.colour || Ritz.ink.text, to.bx, to.by, px, py, a.dash);
      ctx.fillStyle = a.colour || Ritz.ink.text;
      ctx.beginPath();
      ctx.moveTo(px, py);
      ctx.lineTo(px - 8 * Math.cos(turn - 0.4), py - 8 * Math.sin(turn - 0.4));
      ctx.lineTo(px - 8 * Math.cos(turn + 0.4), py - 8 * Math.sin(turn + 0.4));
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.lineWidth = 1;
    }
  }

  drawChosen(ctx, to) {
    const o = this.options, ring = (i, r) => {
      ctx.beginPath();
      ctx.arc(to.ax * o.x[i] + to.bx, to.ay * o.y[i] + to.by, r, 0, 6.2832);
      ctx.stroke();
    };
    ctx.strokeStyle = Ritz.ink.text;
    const radius = (o.radius || Ritz.radius(o.count || 0)) + 2;
    if (this.selected) { ctx.lineWidth = 1; for (const i of this.selected) ring(i, radius); }
    if (this.focused >= 0) { ctx.lineWidth = 2; ring(this.focused, radius + 3); }
    ctx.lineWidth = 1;
  }

  drawNames(ctx, to) {
    const o = this.options, marks = [];
    for (const m of o.marks ? o.marks(this) : []) {
      marks.push({ x: to.ax * m.x + to.bx, y: to.ay * m.y + to.by, r: m.r || 0, text: Ritz.clip(m.text, 32), colour: m.colour || Ritz.ink.text });
    }
    for (const m of this.further().filter((spot) => spot.text)) {
      marks.push({ x: to.ax * m.x + to.bx, y: to.ay * m.y + to.by, r: m.size || 5, text: Ritz.clip(m.text, 32), colour: m.ink || Ritz.ink.text });
    }
    const arrows = (o.arrows || []).filter((a) => a.text).map((a) => {
      const x = to.ax * a.x + to.bx, y = to.ay * a.y + to.by, size = Math.hypot(x - to.bx, y - to.by) || 1;
      return { x, y, text: Ritz.clip(a.text, 32), colour: a.colour || Ritz.ink.text, away: [(x - to.bx) / size, (y - to.by) / size], size };
    }).sort((p, q) => q.size - p.size).slice(0, this.width < 500 ? 14 : 40);
    if (!marks.length && !arrows.length) return;
    const obstacles = marks.map((m) => ({ x: m.x, y: m.y, r: Math.max(3, m.r) }));
    for (let i = 0; i < (o.count <= 300 && !o.circle ? o.count : 0); i++) obstacles.push({ x: to.ax * o.x[i] + to.bx, y: to.ay * o.y[i] + to.by, r: 3 });
    for (const a of arrows) for (const t of [0.5, 0.7, 0.9]) obstacles.push({ x: to.bx + t * (a.x - to.bx), y: to.by + t * (a.y - to.by), r: 2 });
    this.written = Ritz.placeLabels(ctx, [...arrows, ...marks], obstacles, this.box, "12px " + Ritz.font);
  }

  reset() { this.view = null; this.draw(); }

  zoom(factor, at) {
    if (!this.view) return;
    const v = this.view, b = this.box, to = this.to();
    const cx = at ? (at.x - to.bx) / to.ax : (v.x0 + v.x1) / 2, cy = at ? (at.y - to.by) / to.ay : (v.y0 + v.y1) / 2;
    this.view = { x0: cx + (v.x0 - cx) * factor, x1: cx + (v.x1 - cx) * factor, y0: cy + (v.y0 - cy) * factor, y1: cy + (v.y1 - cy) * factor };
    this.draw();
    return b;
  }

  spot(event) {
    const r = this.canvas.getBoundingClientRect();
    return { x: event.clientX - r.left, y: event.clientY - r.top };
  }

  allowed() {
    if (!this.hidden.size) return null;
    const kind = new Map();
    for (const bucket of this.options.buckets().buckets) for (const i of bucket.rows) kind.set(i, bucket.kind);
    return (i) => !this.hidden.has(kind.get(i));
  }

  listen() {
    const canvas = this.canvas;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (this.mode !== "move") return;
      from = { ...this.spot(event), view: { ...this.view } };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = this.spot(event);
      if (from && event.buttons) {
        const to = this.to(), dx = (at.x - from.x) / to.ax, dy = (at.y - from.y) / to.ay, v = from.view;
        this.view = { x0: v.x0 - dx, x1: v.x1 - dx, y0: v.y0 - dy, y1: v.y1 - dy };
        this.draw();
        return;
      }
      if (this.mode === "move" || !event.buttons) this.hover(at, event);
    });
    canvas.addEventListener("pointerup", () => { from = null; });
    canvas.addEventListener("pointerleave", () => { Ritz.tip(null, null); if (this.focused >= 0) { this.focused = -1; this.draw(); } });
    canvas.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey || document.activeElement === canvas)) return;
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.002), this.spot(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => Ritz.tip(null, null));
  }

  hover(at, event) {
    if (!this.view) return;
    const spot = this.spotAt(at), found = spot || !this.grid ? -1 : this.grid.nearest(at.x, at.y, this.to(), 14, this.allowed());
    if (found !== this.focused) { this.focused = found; this.draw(); if (this.options.focus) this.options.focus(found); }
    Ritz.tip({ x: event.clientX, y: event.clientY }, spot ? spot.lines : found < 0 ? null : this.options.describe(found));
  }

  /* The tip of an arrow, or a further point, under the pointer. */
  spotAt(at) {
    const to = this.to();
    let best = null, least = 12;
    for (const one of [...this.further(), ...(this.options.arrows || [])]) {
      const far = one.lines ? Math.hypot(to.ax * one.x + to.bx - at.x, to.ay * one.y + to.by - at.y) : Infinity;
      if (far < least) { least = far; best = one; }
    }
    return best;
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way && this.grid) this.step(way);
    else if (event.key === "+" || event.key === "=") this.zoom(0.7);
    else if (event.key === "-") this.zoom(1 / 0.7);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") Ritz.tip(null, null);
    else if (event.key === "Enter" && this.focused >= 0 && this.choose) this.choose([this.focused], true);
    else return;
    event.preventDefault();
  }

  /* The next point in a direction: near, and not far to the side. */
  step(way) {
    const o = this.options, to = this.to(), b = this.box;
    const px = this.focused < 0 ? b.left + b.width / 2 : to.ax * o.x[this.focused] + to.bx;
    const py = this.focused < 0 ? b.top + b.height / 2 : to.ay * o.y[this.focused] + to.by;
    let best = -1, least = Infinity;
    for (let i = 0; i < o.count; i++) {
      if (i === this.focused) continue;
      const dx = to.ax * o.x[i] + to.bx - px, dy = to.ay * o.y[i] + to.by - py, along = dx * way[0] + dy * way[1];
      const across = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (this.focused >= 0 && along <= 0) continue;
      const cost = Math.abs(along) + 2.5 * across;
      if (cost < least) { least = cost; best = i; }
    }
    if (best < 0) return;
    this.focused = best;
    const lines = o.describe(best), r = this.canvas.getBoundingClientRect();
    this.live.textContent = lines.map((line) => line.join(" ")).join(", ");
    Ritz.tip({ x: r.left + to.ax * o.x[best] + to.bx, y: r.top + to.ay * o.y[best] + to.by }, lines);
    this.draw();
  }
};
