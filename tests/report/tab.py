"""One page of a browser for many tests: it goes from report to report, and remembers what a report said and asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["FRAMES", "Tab"]

#: Waits until charts are painted: they are drawn in animation frames.
FRAMES = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
)


class Tab:
    """One page of the browser, which tests use in turn: another window for each would cost four times the page.

    A report keeps nothing between visits, so that a page which is opened anew is as new; screen, scheme and pointer
    are set anew here.
    """

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_context().new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: Path, viewport: Any = None, color_scheme: Any = "light") -> Any:
        """The page of a report, drawn; ``said`` and ``asked`` tell what went wrong since."""
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size(viewport or {"width": 1280, "height": 900})
        self.page.emulate_media(media="screen", color_scheme=color_scheme)
        self.said.clear()
        self.asked.clear()
        self.page.goto(path.as_uri())
        self.page.evaluate(FRAMES)
        return self.page
