"use strict";
Ritz.part("pictures", (place, data) => {
  const [high, wide] = data.shape;
  const strip = (kind, items) => Ritz.el("div", { class: "strip " + kind }, items);
  const first = data.mean ? [Ritz.framed(Ritz.picture(Ritz.numbers(data.mean.values), high, wide, false), "mean")] : [];
  place.append(strip("", [...first, ...data.components.map((c) => Ritz.framed(Ritz.picture(Ritz.numbers(c.values), high, wide, true), c.name))]));
  if (!data.rebuilt.length) return;
  place.append(Ritz.el("h3", {}, "Rows rebuilt from more and more components"));
  for (const row of data.rebuilt) {
    const original = Ritz.numbers(row.steps[row.steps.length - 1].values);
    const range = [original.reduce((a, b) => Math.min(a, b), Infinity), original.reduce((a, b) => Math.max(a, b), -Infinity)];
    place.append(strip("steps", row.steps.map((step) => Ritz.framed(Ritz.picture(Ritz.numbers(step.values), high, wide, false, range), step.k ? String(step.k) : Ritz.clip(row.name, 24)))));
  }
});
