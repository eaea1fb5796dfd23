"use strict";
/* A document by its name, or by a click in the map, and those whose topics are most like its own. */
Ritz.part("neighbours", (place, data) => {
  const documents = Ritz.numbers(data.documents), offered = Ritz.numbers(data.offered), near = Ritz.numbers(data.near), cosines = Ritz.numbers(data.cosines);
  const list = Ritz.el("ol", { class: "near" }), head = Ritz.el("p", {}), id = "document-" + ++Ritz.count;
  const begun = (d) => (data.texts && data.texts[d] ? Ritz.el("span", { class: "note" }, Ritz.el("bdi", {}, data.texts[d] + (data.texts[d].length >= 240 ? "…" : ""))) : null);
  let at = -1;
  const show = (o) => {
    if (o === at) return;
    at = o;
    const own = offered[o];
    head.replaceChildren(Ritz.el("b", {}, Ritz.el("bdi", {}, data.names[own])), " ", begun(own) || "");
    const lines = [];
    for (let j = 0; j < data.each; j++) {
      const other = near[o * data.each + j];
      if (other === 4294967295) break;
      const goes = offered.indexOf(other);
      lines.push(Ritz.el("li", {}, goes < 0 ? Ritz.el("bdi", {}, data.names[other]) : Ritz.el("button", { type: "button", class: "plain", onclick: () => choose(goes) }, data.names[other]),
        " " + Ritz.format(cosines[o * data.each + j], 3) + " ", begun(other)));
    }
    list.replaceChildren(...lines);
    if (!lines.length) list.replaceChildren(Ritz.el("li", {}, "No other document has words in common with it."));
  };
  const box = Ritz.el("input", { id, list: id + "-names", type: "search", autocomplete: "off", oninput: (event) => {
    const found = data.names.findIndex((name, d) => name === event.target.value && offered.includes(d));
    if (found >= 0) show(offered.indexOf(found));
  } });
  const choose = (o) => { box.value = data.names[offered[o]]; show(o); };
  place.append(Ritz.el("div", { class: "controls" }, Ritz.el("span", { class: "choice" }, Ritz.el("label", { for: id }, "Document"), box,
    Ritz.el("datalist", { id: id + "-names" }, Array.from(offered, (d) => Ritz.el("option", { value: data.names[d] })))),
    Ritz.button("Another", "Show the next document", () => choose((at + 1) % offered.length))), head, list);
  if (offered.length) choose(0);
  /* A click in the map of documents. */
  const map = document.querySelector('[data-chart="scores"]');
  if (map && map.plane) map.plane.canvas.addEventListener("click", () => {
    if (map.plane.focused < 0) return;
    const d = documents.indexOf(Ritz.rows().number(map.plane.focused)), o = offered.indexOf(d);
    if (o >= 0) choose(o);
  });
});
