"use strict";
/* Any chart as a file: SVG drawn anew by a canvas that writes marks instead of pixels, PNG from that SVG at twice the size. */

Ritz.SvgContext = class {
  constructor(width, height) {
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "start", textBaseline: "alphabetic" });
    this.root = Ritz.svg("g");
    this.into = this.root;
    this.stack = [];
    this.dash = [];
    this.size = [width, height];
    this.pen = document.createElement("canvas").getContext("2d");
  }
  save() { this.stack.push({ into: this.into, alpha: this.globalAlpha, dash: this.dash }); }
  restore() { const held = this.stack.pop(); this.into = held.into; this.globalAlpha = held.alpha; this.dash = held.dash; }
  setTransform() {}
  clearRect() {}
  beginPath() { this.d = []; }
  moveTo(x, y) { this.d.push("M" + this.at(x, y)); }
  lineTo(x, y) { this.d.push("L" + this.at(x, y)); }
  closePath() { this.d.push("Z"); }
  rect(x, y, w, h) { this.d.push(`M${this.at(x, y)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}Z`); }
  arc(x, y, r) { this.ellipse(x, y, r, r); }
  ellipse(x, y, a, b) { this.d.push(`M${this.at(x - a, y)}a${a.toFixed(2)} ${b.toFixed(2)} 0 1 0 ${(2 * a).toFixed(2)} 0a${a.toFixed(2)} ${b.toFixed(2)} 0 1 0 ${(-2 * a).toFixed(2)} 0`); }
  at(x, y) { return x.toFixed(2) + " " + y.toFixed(2); }
  clip() {
    const id = "clip-" + ++Ritz.count, group = Ritz.svg("g", { "clip-path": "url" + `(#${id})` });
    this.into.append(Ritz.svg("clipPath", { id }, Ritz.svg("path", { d: this.d.join("") })), group);
    this.into = group;
  }
  fill() { this.into.append(Ritz.svg("path", { d: this.d.join(""), fill: this.fillStyle, "fill-opacity": this.see() })); }
  stroke() { this.into.append(Ritz.svg("path", { d: this.d.join(""), fill: "none", ...this.line() })); }
  fillRect(x, y, width, height) { this.into.append(Ritz.svg("rect", { x, y, width, height, fill: this.fillStyle, "fill-opacity": this.see() })); }
  see() { return this.globalAlpha < 1 ? this.globalAlpha : null; }
  line() { return { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-opacity": this.see(), "stroke-dasharray": this.dash.length ? this.dash.join(" ") : null }; }
  setLineDash(dash) { this.dash = dash; }
  measureText(text) { this.pen.font = this.font; return this.pen.measureText(text); }
  word(text, x, y, more) {
    const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] || "start", size = parseFloat(this.font);
    const lower = { top: 0.8 * size, middle: 0.35 * size, bottom: -0.2 * size }[this.textBaseline] || 0;
    this.into.append(Ritz.svg("text", { x: x.toFixed(2), y: (y + lower).toFixed(2), "text-anchor": anchor, "font-size": size, "font-family": Ritz.font, ...more }, text));
  }
  fillText(text, x, y) { this.word(text, x, y, { fill: this.fillStyle, "fill-opacity": this.see() }); }
  strokeText(text, x, y) { this.word(text, x, y, { fill: "none", "stroke-linejoin": "round", ...this.line() }); }
  drawImage(canvas, x, y, width, height) { this.into.append(Ritz.svg("image", { href: canvas.toDataURL(), x, y, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated" })); }
};

/* What is to be seen of an element of the page, with the styles that the page gives it. */
Ritz.STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "font-family"];
Ritz.dressed = (svg) => {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], into = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    into[i].removeAttribute("class");
    for (const name of Ritz.STYLES) into[i].setAttribute(name, style.getPropertyValue(name)); // the policy of the page forbids style attributes
  });
  return copy;
};

/* A chart as one SVG: its drawings where they stand, the words of legends and captions beside them; controls are left out. */
Ritz.chartSvg = (place) => {
  const room = place.getBoundingClientRect(), paper = Ritz.ink.paper, parts = [];
  let bottom = 0;
  const spot = (node) => { const r = node.getBoundingClientRect(); bottom = Math.max(bottom, r.bottom - room.top); return { x: r.left - room.left, y: r.top - room.top, width: r.width, height: r.height }; };
  const shown = (node) => node.getClientRects().length && !node.closest(".tools, .controls, .save, .chosen, .hidden") && !node.parentNode.closest("svg");
  for (const node of [...place.querySelectorAll("svg, canvas, figcaption, .legend bdi, .legend span, p.note")].filter(shown)) {
    const at = spot(node);
    if (node === (place.plane && place.plane.canvas)) {
      const ctx = new Ritz.SvgContext(at.width, at.height);
      place.plane.paint(ctx);
      parts.push(Ritz.svg("g", { transform: `translate(${at.x} ${at.y})` }, ctx.root));
    } else if (node.tagName === "CANVAS") {
      parts.push(Ritz.svg("image", { href: node.toDataURL(), ...at, preserveAspectRatio: "none", "image-rendering": node.classList.contains("picture") ? "pixelated" : null }));
    } else if (node.tagName.toLowerCase() === "svg") {
      const copy = Ritz.dressed(node);
      for (const key of Object.keys(at)) copy.setAttribute(key, at[key]);
      parts.push(copy);
    } else if (![...node.children].some((child) => /^(BDI|SPAN)$/.test(child.tagName))) {
      const style = getComputedStyle(node);
      parts.push(Ritz.svg("text", { x: at.x, y: at.y + 0.75 * at.height, fill: style.color, "font-size": style.fontSize, "font-family": Ritz.font }, node.textContent));
    }
  }
  const width = Math.ceil(room.width), height = Math.ceil(bottom) + 6;
  return Ritz.svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }, Ritz.svg("rect", { width, height, fill: paper }), parts);
};

Ritz.download = (name, blob) => {
  const link = Ritz.el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

Ritz.saveChart = (place, kind) => {
  const svg = Ritz.chartSvg(place), text = new XMLSerializer().serializeToString(svg), name = place.dataset.chart + "." + kind;
  if (kind === "svg") { Ritz.download(name, new Blob([text], { type: "image/svg+xml" })); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = Ritz.el("canvas", { width: 2 * svg.getAttribute("width"), height: 2 * svg.getAttribute("height") });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => Ritz.download(name, blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
};

Ritz.addSave = (place) => place.after(Ritz.el("div", { class: "save" }, Ritz.el("span", { "aria-hidden": "true" }, "Save"),
  ...["svg", "png"].map((kind) => Ritz.button(kind.toUpperCase(), "Save this chart as " + kind.toUpperCase(), () => Ritz.saveChart(place, kind)))));
