"""Faults of a site, as programs that can be repeated: ``python -m ritz.testing.faults [NAME …]``.

A fault is one module of this folder. It makes what goes wrong (a file that changes while it is read, a full disk, a
hostile file) and says what Ritz did wrong about it:

    def check(folder: Path) -> list[str]        sentences, one a finding; none where Ritz held

``folder`` is empty and removed afterwards. The module's first line says what must hold. Modules that stand here are
found by name: a new fault is one file.
"""
