"use strict";
/* A lasso around points gives a list of them that can be copied. */

Ritz.addLasso = (plane) => {
  const rows = Ritz.rows();
  const text = Ritz.el("textarea", { readonly: true, rows: 5, "aria-label": "Chosen rows" });
  const head = Ritz.el("p", { class: "count", "aria-live": "polite" });
  const copy = Ritz.button("Copy", "Copy the list", () => {
    const done = () => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 1500); };
    const old = () => { text.select(); document.execCommand("copy"); done(); };
    if (navigator.clipboard) navigator.clipboard.writeText(text.value).then(done, old); else old();
  });
  const clear = Ritz.button("Clear", "Forget the list", () => plane.choose([], false));
  const panel = Ritz.el("div", { class: "chosen", hidden: true }, head, text, Ritz.el("div", { class: "row" }, copy, clear));
  const move = Ritz.button(Ritz.icon("M8 1v14M1 8h14M8 1l-2 2M8 1l2 2M8 15l-2-2M8 15l2-2M1 8l2-2M1 8l2 2M15 8l-2-2M15 8l-2 2"), "Move: drag moves the picture", () => set("move"), true);
  const lasso = Ritz.button(Ritz.icon("M6 11C3 10.500 1.500 9 1.500 7 1.500 4 4.500 2 8 2s6.500 2 6.500 5-3 4.500-6 4.500c-2 0-3 1-3 2.500"), "Lasso: drag around points for a list of them", () => set("lasso"), false);
  plane.tools.prepend(move, lasso);
  plane.place.append(panel);
  const set = (mode) => {
    plane.mode = mode;
    move.setAttribute("aria-pressed", String(mode === "move"));
    lasso.setAttribute("aria-pressed", String(mode === "lasso"));
    plane.canvas.classList.toggle("lasso", mode === "lasso");
  };

  plane.choose = (points, add) => {
    const held = new Set(add && plane.selected ? plane.selected : []);
    for (const i of points) held.add(i);
    plane.selected = held.size ? [...held].sort((a, b) => a - b) : null;
    panel.hidden = !plane.selected;
    if (plane.selected) {
      head.textContent = plane.selected.length.toLocaleString("en") + (plane.selected.length === 1 ? " row" : " rows");
      text.value = plane.selected.map((i) => (rows.names ? rows.number(i) + 1 + "\t" + rows.name(i) : String(rows.number(i) + 1))).join("\n");
    }
    plane.draw();
  };

  let path = null;
  plane.canvas.addEventListener("pointerdown", (event) => {
    if (plane.mode !== "lasso") return;
    path = [plane.spot(event)];
    plane.canvas.setPointerCapture(event.pointerId);
    Ritz.tip(null, null);
  });
  plane.canvas.addEventListener("pointermove", (event) => {
    if (!path) return;
    path.push(plane.spot(event));
    plane.draw();
  });
  plane.canvas.addEventListener("pointerup", (event) => {
    if (!path) return;
    const drawn = path;
    path = null;
    plane.choose(drawn.length > 2 ? Ritz.within(plane, drawn) : [], event.shiftKey);
  });
  plane.options.after = () => {
    if (!path || path.length < 2) return;
    const ctx = plane.canvas.getContext("2d");
    ctx.strokeStyle = Ritz.ink.text;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    path.forEach((p, i) => (i ? ctx.lineTo(p.x, p.y) : ctx.moveTo(p.x, p.y)));
    ctx.closePath();
    ctx.stroke();
    ctx.setLineDash([]);
  };
};

/* Points inside a closed line, by counting crossings. */
Ritz.within = (plane, path) => {
  const o = plane.options, to = plane.to(), allowed = plane.allowed(), found = [];
  const xs = path.map((p) => p.x), ys = path.map((p) => p.y);
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  for (let i = 0; i < o.count; i++) {
    const x = to.ax * o.x[i] + to.bx, y = to.ay * o.y[i] + to.by;
    if (!(x >= x0 && x <= x1 && y >= y0 && y <= y1) || (allowed && !allowed(i))) continue;
    let inside = false;
    for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
      if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) inside = !inside;
    }
    if (inside) found.push(i);
  }
  return found;
};
