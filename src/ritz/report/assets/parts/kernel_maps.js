"use strict";
/* Each component over two columns: colours for its value, a line where it is zero, rows as small rings. */
Ritz.part("kernel_maps", (place, data) => {
  const g = data.grid, [x0, x1] = data.x, [y0, y1] = data.y;
  const smooth = (values, own) => {
    const size = 256, canvas = Ritz.el("canvas", { width: size, height: size, class: "smooth", "aria-hidden": "true" }), ctx = canvas.getContext("2d");
    let reach = own; // of the scores of the rows: a map that hardly changes stays pale
    for (const v of values) reach = Math.max(reach, Math.abs(v));
    const at = (i, j) => values[Math.min(g - 1, j) * g + Math.min(g - 1, i)];
    const image = ctx.createImageData(size, size), sign = new Int8Array(size * size);
    for (let py = 0; py < size; py++) for (let px = 0; px < size; px++) {
      const u = (px / (size - 1)) * (g - 1), v = ((size - 1 - py) / (size - 1)) * (g - 1), i = Math.floor(u), j = Math.floor(v), a = u - i, b = v - j;
      const f = (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
      const rgb = Ritz.signs(0.5 + (0.5 * f) / (reach || 1));
      sign[py * size + px] = f >= 0 ? 1 : -1;
      const edge = (px && sign[py * size + px - 1] !== sign[py * size + px]) || (py && sign[(py - 1) * size + px] !== sign[py * size + px]);
      image.data.set(edge ? [30, 30, 30, 255] : [rgb[0], rgb[1], rgb[2], 255], 4 * (py * size + px));
    }
    ctx.putImageData(image, 0, 0);
    ctx.strokeStyle = "rgba(20,20,20,.55)";
    data.rows[0].forEach((x, r) => {
      ctx.beginPath();
      ctx.arc(((x - x0) / (x1 - x0)) * size, size - ((data.rows[1][r] - y0) / (y1 - y0)) * size, 2, 0, 6.2832);
      ctx.stroke();
    });
    return canvas;
  };
  const hovering = (canvas, map) => {
    const values = Ritz.numbers(map.values);
    canvas.addEventListener("pointermove", (event) => {
      const r = canvas.getBoundingClientRect(), u = (event.clientX - r.left) / r.width, v = 1 - (event.clientY - r.top) / r.height;
      const cell = (t) => Math.max(0, Math.min(g - 1, Math.round(t * (g - 1))));
      Ritz.tip({ x: event.clientX, y: event.clientY }, [[map.name], [data.names[0], Ritz.format(x0 + u * (x1 - x0))], [data.names[1], Ritz.format(y0 + v * (y1 - y0))], ["value", Ritz.format(values[cell(v) * g + cell(u)])]]);
    });
    canvas.addEventListener("pointerleave", () => Ritz.tip(null, null));
    return canvas;
  };
  place.append(Ritz.el("div", { class: "strip maps" }, data.maps.map((map) => Ritz.framed(hovering(smooth(Ritz.numbers(map.values), map.reach), map), map.name))),
    Ritz.el("p", { class: "note" }, "Across: ", Ritz.el("bdi", {}, Ritz.clip(data.names[0], 60)), ", " + Ritz.format(x0) + " to " + Ritz.format(x1) + ". Up: ", Ritz.el("bdi", {}, Ritz.clip(data.names[1], 60)),
      ", " + Ritz.format(y0) + " to " + Ritz.format(y1) + ". Blue is negative, red positive."));
});
