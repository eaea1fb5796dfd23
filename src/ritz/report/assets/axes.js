"use strict";
/* Round numbers along an axis, and axes on a canvas. */

/* whole: of numbers that count, as those of rows: none between them. */
Ritz.ticks = (low, high, count, whole = false) => {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const round = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const step = whole ? Math.max(1, round) : round;
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(i * step);
  return out;
};

/* A plane with axes: view is {x0, x1, y0, y1}, box the pixels inside the axes, whole: which of the two count. */
Ritz.drawAxes = (ctx, view, box, names, whole = [false, false]) => {
  const ink = Ritz.ink;
  ctx.font = "12px " + Ritz.font;
  ctx.lineWidth = 1;
  const sx = (x) => box.left + ((x - view.x0) / (view.x1 - view.x0)) * box.width;
  const sy = (y) => box.top + box.height - ((y - view.y0) / (view.y1 - view.y0)) * box.height;
  ctx.textBaseline = "top";
  ctx.textAlign = "center";
  for (const x of Ritz.ticks(view.x0, view.x1, Math.max(3, box.width / 65), whole[0])) {
    const at = Math.round(sx(x)) + 0.5;
    Ritz.stroke(ctx, x === 0 ? ink.faint : ink.line, at, box.top, at, box.top + box.height);
    ctx.fillStyle = ink.faint;
    ctx.fillText(Ritz.format(x), at, box.top + box.height + 6);
  }
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const y of Ritz.ticks(view.y0, view.y1, Math.max(3, box.height / 60), whole[1])) {
    const at = Math.round(sy(y)) + 0.5;
    Ritz.stroke(ctx, y === 0 ? ink.faint : ink.line, box.left, at, box.left + box.width, at);
    ctx.fillStyle = ink.faint;
    ctx.fillText(Ritz.format(y), box.left - 7, at);
  }
  ctx.fillStyle = ink.text;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.fillText(names[0], box.left + box.width, box.top + box.height + 36);
  ctx.textAlign = "left";
  ctx.fillText(names[1], 2, box.top - 10);
};

Ritz.stroke = (ctx, colour, x0, y0, x1, y1, dash) => {
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash || []);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
};

Ritz.font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
