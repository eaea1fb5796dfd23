"use strict";
/* Rows in three dimensions, seen from a side that the reader turns: no perspective, so distances along the screen are true. */
Ritz.part("space", (place, data) => {
  const rows = Ritz.rows(), names = rows.axes.map((axis) => axis.name), at = { x: 0, y: 1, z: 2, yaw: -0.6, pitch: 0.45, zoom: 1 };
  const canvas = Ritz.el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": place.getAttribute("aria-label") + ". Arrow keys turn the picture, plus and minus zoom." });
  const box = Ritz.el("div", { class: "plane" }, canvas), legend = Ritz.el("div", { class: "legend" });
  let held = null, from = null, px = null, py = null, pz = null, focused = -1, waiting = false;
  const third = () => { if (at.z === at.x || at.z === at.y) at.z = [0, 1, 2].find((i) => i !== at.x && i !== at.y); };
  const depth = Ritz.select("Depth", names, at.z, (i) => { at.z = i; again(); });
  const again = () => { third(); depth.querySelector("select").value = at.z; held = null; draw(); show(); };
  place.append(Ritz.el("div", { class: "controls" }, ...Ritz.axisControls(names, at, names.length, again), depth), box, legend);
  const buckets = () => held || (held = { mix: true, colour: Ritz.colourAt(at), ...Ritz.buckets(rows.count, Ritz.colourAt(at)) });
  const spread = () => {
    let most = 0;
    for (const a of [at.x, at.y, at.z]) for (const v of rows.scores[a]) if (Math.abs(v) > most) most = Math.abs(v);
    return most || 1;
  };
  const turned = (x, y, z) => {
    const cx = Math.cos(at.yaw), sx = Math.sin(at.yaw), cy = Math.cos(at.pitch), sy = Math.sin(at.pitch), u = cx * x + sx * z, w = -sx * x + cx * z;
    return [u, cy * y - sy * w, sy * y + cy * w];
  };
  const self = { hidden: new Set(), draw: () => draw() };
  const paint = (given) => {
    const ctx = given || canvas.getContext("2d"), wide = canvas.clientWidth, high = canvas.clientHeight, ratio = devicePixelRatio || 1, most = spread();
    const unit = (at.zoom * 0.46 * Math.min(wide, high)) / most, to = { ax: unit, bx: wide / 2, ay: -unit, by: high / 2 };
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, wide, high);
    px = px && px.length === rows.count ? px : new Float64Array(rows.count);
    py = py && py.length === rows.count ? py : new Float64Array(rows.count);
    pz = pz && pz.length === rows.count ? pz : new Float64Array(rows.count);
    const X = rows.scores[at.x], Y = rows.scores[at.y], Z = rows.scores[at.z];
    for (let i = 0; i < rows.count; i++) { const p = turned(X[i], Y[i], Z[i]); px[i] = p[0]; py[i] = p[1]; pz[i] = p[2]; }
    ctx.font = "12px " + Ritz.font;
    [[at.x, 1, 0, 0], [at.y, 0, 1, 0], [at.z, 0, 0, 1]].forEach(([a, x, y, z]) => {
      const p = turned(x * most, y * most, z * most), q = [-p[0], -p[1]];
      Ritz.stroke(ctx, Ritz.ink.faint, to.ax * q[0] + to.bx, to.ay * q[1] + to.by, to.ax * p[0] + to.bx, to.ay * p[1] + to.by);
      ctx.fillStyle = Ritz.ink.text;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      const half = ctx.measureText(Ritz.axis(rows.axes[a])).width / 2 + 4, tip = [to.ax * 1.06 * p[0] + to.bx, to.ay * 1.06 * p[1] + to.by];
      const at2 = [Math.max(half, Math.min(wide - half, tip[0])), Math.max(10, Math.min(high - 10, tip[1]))];
      ctx.strokeStyle = Ritz.ink.paper;
      ctx.lineWidth = 3;
      ctx.strokeText(Ritz.axis(rows.axes[a]), ...at2);
      ctx.lineWidth = 1;
      ctx.fillText(Ritz.axis(rows.axes[a]), ...at2);
    });
    const room = { left: 0, top: 0, width: wide, height: high }, radius = Math.min(3.2, Ritz.radius(rows.count));
    if (rows.count > Ritz.DENSE) Ritz.drawDensity(ctx, buckets().buckets, px, py, to, room, self.hidden);
    else {
      const order = buckets().buckets.flatMap((b) => (self.hidden.has(b.kind) ? [] : Array.from(b.rows, (i) => [i, b]))).sort((p, q) => pz[q[0]] - pz[p[0]]);
      let far = 1e-300;
      for (const z of pz) far = Math.max(far, Math.abs(z));
      for (const [i, bucket] of order) {
        ctx.globalAlpha = 0.65 - 0.3 * (pz[i] / far);
        ctx.fillStyle = bucket.fill;
        ctx.beginPath();
        Ritz.SHAPES[bucket.shape](ctx, to.ax * px[i] + to.bx, to.ay * py[i] + to.by, radius * (1 - 0.25 * (pz[i] / far)));
        ctx.fill();
      }
      ctx.globalAlpha = 1;
    }
    if (focused >= 0 && !given) { ctx.strokeStyle = Ritz.ink.text; ctx.lineWidth = 2; ctx.beginPath(); ctx.arc(to.ax * px[focused] + to.bx, to.ay * py[focused] + to.by, radius + 4, 0, 6.2832); ctx.stroke(); ctx.lineWidth = 1; }
    self.to = to;
  };
  const draw = () => { if (waiting || !canvas.clientWidth) return; waiting = true; requestAnimationFrame(() => { waiting = false; paint(null); }); };
  const spot = (event) => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  const nearest = ([x, y]) => {
    let best = -1, least = 144;
    for (let i = 0; i < rows.count; i++) {
      const a = self.to.ax * px[i] + self.to.bx - x, b = self.to.ay * py[i] + self.to.by - y, far = a * a + b * b;
      if (far < least) { least = far; best = i; }
    }
    return best;
  };
  canvas.addEventListener("pointerdown", (event) => { from = { at: spot(event), yaw: at.yaw, pitch: at.pitch }; canvas.setPointerCapture(event.pointerId); Ritz.tip(null, null); });
  canvas.addEventListener("pointerup", () => { from = null; });
  canvas.addEventListener("pointermove", (event) => {
    const now = spot(event);
    if (from && event.buttons) {
      at.yaw = from.yaw + (now[0] - from.at[0]) * 0.008;
      at.pitch = Math.max(-1.57, Math.min(1.57, from.pitch + (now[1] - from.at[1]) * 0.008));
      draw();
      return;
    }
    const found = self.to ? nearest(now) : -1;
    if (found !== focused) { focused = found; draw(); }
    const c = buckets().colour;
    Ritz.tip({ x: event.clientX, y: event.clientY }, found < 0 ? null : [[rows.name(found)], ...[at.x, at.y, at.z].map((a) => [names[a], Ritz.format(rows.scores[a][found])]),
      ...(c ? [[c.name, c.kinds ? c.kinds[c.decoded[found]] || "no value" : Ritz.amount(c, found)]] : [])]);
  });
  canvas.addEventListener("pointerleave", () => { focused = -1; Ritz.tip(null, null); draw(); });
  canvas.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (turn) { at.yaw += turn[0]; at.pitch = Math.max(-1.57, Math.min(1.57, at.pitch + turn[1])); } else if (event.key === "+" || event.key === "=") at.zoom *= 1.25;
    else if (event.key === "-") at.zoom /= 1.25; else return;
    event.preventDefault();
    draw();
  });
  const show = () => Ritz.legend(legend, buckets().colour, buckets(), self);
  Ritz.tint.watch.push(() => { held = null; self.hidden.clear(); draw(); show(); });
  Ritz.redraws.push(() => { held = null; show(); });
  Ritz.live(box, (width) => {
    const high = Math.round(Math.max(320, Math.min(0.7 * width, 560))), ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(high * ratio);
    canvas.style.height = high + "px";
    draw();
  });
  show();
  place.plane = { canvas, paint, options: { describe: (i) => [[rows.name(i)]] }, turn: at, draw };
});
