"""A disk that is full at any point leaves the old results as they were, nothing new, and no hidden file."""

from __future__ import annotations

from pathlib import Path

from ritz.testing.faults._files import held, hidden, program, small_table

__all__ = ["check"]

#: Bytes that a file may have: from nothing at all to nearly the largest result.
LIMITS = (0, 100, 700, 2000, 3500, 5000, 8000)


def check(folder: Path) -> list[str]:
    """Limit the size of files instead of filling a disk: both fail where bytes are handed to the system."""
    try:
        import resource
    except ImportError:  # Windows
        return []
    small_table(folder / "t.csv", 200)
    small_table(folder / "u.csv", 200, seed=1)
    if (first := program("fit", "t.csv", "-k", 2, "--no-report", cwd=folder)).returncode:
        return [f"a first fit failed: {first.stderr}"]
    before = held(folder)
    findings = []
    for most in LIMITS:

        def limited(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        for output in ("t_ritz", "new"):
            done = program("fit", "u.csv", "-k", 2, "--no-report", "-o", output, cwd=folder, preexec_fn=limited)
            what = f"files of at most {most} bytes, {output}"
            if done.returncode != 4 or "Traceback" in done.stderr:
                findings.append(f"{what}: status {done.returncode}, {done.stderr.strip()[-300:]}")
            if held(folder) != before:
                now = held(folder)
                other = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
                findings.append(f"{what}: {', '.join(other)} not as before")
                for name in set(now) - set(before):
                    (folder / name).unlink()
            if hidden(folder):
                findings.append(f"{what}: left behind {hidden(folder)}")
            if (folder / "new").exists():
                findings.append(f"{what}: a folder without results")
    return findings
