"""What is printed: some lines a case, and a table with the geometric mean at the end."""

from __future__ import annotations

import math
from typing import Any

from bench.busy import BUSY

__all__ = ["case_lines", "summary"]


def case_lines(result: dict[str, Any]) -> str:
    """The result of one case."""
    s, m = result["speed"], result["memory"]
    seconds, error, relative = s["seconds"], s["error_lambda1"], s["error_relative"]
    cpu = s["cpu_seconds"]
    floor = " + ".join(f"{part} {_seconds(t)}" for part, t in s["floor"].items() if t)
    labelled = "all labelled" if s["labelled"] else "not all labelled"
    density = result.get("density")
    lines = [
        f"{result['name']}  k={result['case']['k']}" + (f"  density {density:.3%}" if density else ""),
        f"  seconds      ritz {_seconds(seconds['ritz'])}, scikit-learn {_seconds(seconds['sklearn'])} "
        f"({s['sklearn_solver']}): speed-up {s['ratio']:.2f}×",
        f"  processor    ritz {_seconds(cpu['ritz'])}, scikit-learn {_seconds(cpu['sklearn'])}, "
        f"floor {_seconds(cpu['floor'])}: speed-up {cpu['sklearn'] / cpu['ritz']:.2f}×, "
        f"ritz/floor {cpu['ritz'] / cpu['floor']:.2f}",
        f"  route        {s['plan']}; {s['passes']} passes; predicted {_seconds(s['predicted_seconds'])}",
        f"  floor        {_seconds(s['floor_seconds'])} ({floor}); ritz/floor {s['to_floor']:.2f}",
        f"  error of λ   in units of λ₁: ritz {error['ritz']:.1e}, scikit-learn {error['sklearn']:.1e}; "
        f"of λᵢ: {relative['ritz']:.1e}, {relative['sklearn']:.1e}",
        f"  certificate  largest residual {s['residual']:.1e}·λ₁, {labelled}"
        + ("" if s["converged"] else ", NOT CONVERGED"),
    ]
    if m:
        extra = ", ".join(f"{name} {_bytes(one['extra_bytes'])} ({one['share']:.2f} X)" for name, one in m.items())
        lines.append(f"  extra memory {extra}; X {_bytes(next(iter(m.values()))['table_bytes'])}")
    if s["neighbours"] > BUSY:
        lines.append(f"  busy machine others used {s['neighbours']:.1f} cores meanwhile: times are inflated")
    return "\n".join([*lines, *(f"  warning      {words}" for words in s["warnings"])])


def summary(results: list[dict[str, Any]]) -> str:
    """The table of all cases, the geometric mean and the worst ratio; hard cases stand apart from both."""
    head = (
        f"{'case':<28} {'ritz s':>8} {'sklearn s':>9} {'speed-up':>8} {'floor s':>8} {'/floor':>6} "
        f"{'err ritz':>8} {'err skl':>8} {'residual':>8} {'mem':>5} {'mem skl':>7}  solver"
    )
    lines = [head, "-" * len(head), *(_row(one) for one in results)]
    counted = [one for one in results if not one["case"]["hard"]]
    if counted:
        ratios = {one["name"]: one["speed"]["ratio"] for one in counted}
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        worst = min(ratios, key=lambda name: ratios[name])
        lines += [
            "",
            f"geometric mean of {len(ratios)} speed-ups {mean:.2f}×; worst {ratios[worst]:.2f}× ({worst})",
        ]
    lines.append("err: largest error of an eigenvalue in units of λ₁; mem: extra memory in units of X")
    return "\n".join(lines)


def _row(one: dict[str, Any]) -> str:
    s, m = one["speed"], one["memory"]
    shares = [f"{m[name]['share']:.2f}" if name in m else "-" for name in ("ritz", "sklearn")]
    return (
        f"{one['name']:<28} {s['seconds']['ritz']:>8.3f} {s['seconds']['sklearn']:>9.3f} {s['ratio']:>7.2f}× "
        f"{s['floor_seconds']:>8.3f} {s['to_floor']:>6.2f} {s['error_lambda1']['ritz']:>8.0e} "
        f"{s['error_lambda1']['sklearn']:>8.0e} {s['residual']:>8.0e} {shares[0]:>5} {shares[1]:>7} "
        f" {s['plan']}{' (busy)' if s['neighbours'] > BUSY else ''}"
    )


def _seconds(t: float) -> str:
    return f"{1e3 * t:.3g} ms" if t < 1 else f"{t:.3g} s"


def _bytes(size: float) -> str:
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.3g} GB"
