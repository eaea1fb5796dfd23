"use strict";
/* Names beside points where there is room: each, in the order given, takes the first free place around its point, on
   rings of growing distance; far ones are tied to their point by a line. A name without room is left to the tooltip. */

Ritz.DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [0.8, -0.6], [0.8, 0.6], [-0.8, -0.6], [-0.8, 0.6], [0.5, -0.9], [-0.5, -0.9], [0.5, 0.9],
  [-0.5, 0.9]];
Ritz.RINGS = [6, 13, 24, 38];

/* labels: {x, y, r, text, colour, away: [dx, dy] or null}; r is the radius of the point; obstacles: {x, y, r}; box: pixels that hold them. */
Ritz.placeLabels = (ctx, labels, obstacles, box, font) => {
  ctx.font = font;
  const taken = obstacles.map((o) => [o.x - o.r, o.y - o.r, o.x + o.r, o.y + o.r]);
  const hit = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const drawn = [];
  for (const label of labels) {
    const w = ctx.measureText(label.text).width, h = 13;
    const ways = label.away ? [label.away, ...Ritz.DIRECTIONS] : Ritz.DIRECTIONS;
    search: for (const ring of Ritz.RINGS) {
      for (const [dx, dy] of ways) {
        const gap = ring + (label.r || 0);
        const cx = label.x + dx * gap + Math.max(-1, Math.min(1, 1.4 * dx)) * (w / 2);
        const cy = label.y + dy * gap + Math.max(-1, Math.min(1, 1.4 * dy)) * (h / 2);
        const rect = [cx - w / 2 - 2, cy - h / 2 - 1, cx + w / 2 + 2, cy + h / 2 + 1];
        if (rect[0] < box.left || rect[2] > box.left + box.width || rect[1] < box.top || rect[3] > box.top + box.height) continue;
        if (taken.some((other) => hit(rect, other))) continue;
        taken.push(rect);
        drawn.push({ ...label, cx, cy, w, h, far: ring > 12 });
        break search;
      }
    }
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const d of drawn) {
    if (d.far) {
      const ex = Math.max(d.cx - d.w / 2, Math.min(d.x, d.cx + d.w / 2)), ey = Math.max(d.cy - d.h / 2, Math.min(d.y, d.cy + d.h / 2));
      Ritz.stroke(ctx, Ritz.ink.faint, d.x, d.y, ex, ey);
    }
    ctx.lineWidth = 3;
    ctx.strokeStyle = Ritz.ink.paper;
    ctx.lineJoin = "round";
    ctx.strokeText(d.text, d.cx, d.cy);
    ctx.lineWidth = 1;
    ctx.fillStyle = d.colour;
    ctx.fillText(d.text, d.cx, d.cy);
  }
  return drawn;
};
