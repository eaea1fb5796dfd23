"""Docstrings as the reference pages show them: a griffe extension, loaded by mkdocs.yml.

    :class:`ritz.PCA`                            →  a link, where the reference has such a name
    components_ : (k, d) principal axes          →  a name and its description, not a name and its type
    center, scale : bool                         →  one line; left to itself griffe gives all the first one's default
    n_components : None, int or str              →  these words, not the tuple that Python would read
    def limits(…) -> Limits                      →  "Returns", where the docstring does not say it

The second holds for "Attributes", whose lines say in words what is there; types are those of "Parameters".
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|attr|mod):`(~?)([\w.]+)`")


class Docstrings(griffe.Extension):
    """Rewrites docstrings: their text before it is parsed, their parameters afterwards."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called by griffe when the package is complete: only then are the defaults of all parameters known."""
        inside: list[griffe.Object] = [pkg]
        while inside:
            obj = inside.pop()
            inside += [member for member in obj.members.values() if isinstance(member, griffe.Object)]
            if obj.docstring is not None:
                obj.docstring.value = worded(linked(obj.docstring.value, obj))
                # Docstrings of the inside, which no page shows, may have any form: no warnings of them.
                obj.docstring.parsed = obj.docstring.parse(warnings=False)
                for section in obj.docstring.parsed:
                    if isinstance(section, griffe.DocstringSectionParameters):
                        section.value = together(section.value, obj.docstring.value)
                if isinstance(obj, griffe.Function):
                    add_returns(obj, obj.docstring.parsed)


def linked(text: str, obj: griffe.Object) -> str:
    """Roles as links: a short name is one of the same module, ``~`` shows the last part of a long one."""

    def link(match: re.Match[str]) -> str:
        brief, name = match.groups()
        path = name if name.startswith("ritz.") else f"{obj.module.path}.{name}"
        shown = name.rpartition(".")[2] if brief else name
        inside = any(part.startswith("_") for part in path.split("."))  # has no page
        return f"`{shown}`" if inside else f"[`{shown}`][{path}]"

    return ROLE.sub(link, text)


def worded(text: str) -> str:
    """Lines ``name : words`` of "Attributes" without a description below, as ``name`` above its words."""
    done: list[str] = []
    inside = False
    lines = text.split("\n")
    for i, line in enumerate(lines):
        under = lines[i + 1] if i + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", under):
            inside = line == "Attributes"
        name, colon, words = line.partition(" : ")
        if inside and colon and not line.startswith(" ") and not under.startswith(" "):
            done += [name, f"    {words}"]
        else:
            done.append(line)
    return "\n".join(done)


def together(found: list[griffe.DocstringParameter], text: str) -> list[griffe.DocstringParameter]:
    """Parameters of one line of the docstring as one entry, without a default: the signature above has all of them."""
    heads = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+))?$", text, flags=re.MULTILINE)
    lines = {name: (names, words) for names, words in heads for name in names.split(", ")}
    done: list[griffe.DocstringParameter] = []
    for item in found:
        names, words = lines.get(item.name, (item.name, ""))
        if done and done[-1].name == names:
            continue
        words = words.removesuffix(", optional")
        if words and item.description:
            item.annotation = words.replace("``", "")
        elif words:
            item.annotation, item.description = None, words
        elif names != item.name or str(item.annotation) == "Any":
            item.annotation = None
        if names != item.name:
            item.name, item.value = names, None
        done.append(item)
    return done


def add_returns(obj: griffe.Function, sections: list[griffe.DocstringSection]) -> None:
    """What a function gives back, from its annotation; signatures are shown without theirs, most of which are Any."""
    told = any(isinstance(section, griffe.DocstringSectionReturns) for section in sections)
    if told or obj.returns is None or str(obj.returns) in ("Any", "None", "Self"):
        return
    examples = [i for i, section in enumerate(sections) if isinstance(section, griffe.DocstringSectionExamples)]
    given = griffe.DocstringReturn("", annotation=obj.returns, description="")
    sections.insert(examples[0] if examples else len(sections), griffe.DocstringSectionReturns([given]))
