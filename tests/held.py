"""Something costly that tests in a row share, such as a browser: it ends where the next test does not need it.

A fixture of the session would end with the session: an idle cluster takes a tenth of a core all the while.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

__all__ = ["Held"]


class Held:
    """Opened by the first test that asks, again after it was closed.

    Parameters
    ----------
    opened : call that returns what holds it, for ``with``
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self._opened = opened
        self._stack: ExitStack | None = None
        self._value: Any = None

    def get(self) -> Any:
        """Return it."""
        if self._stack is None:
            with ExitStack() as stack:
                self._value = stack.enter_context(self._opened())
                self._stack = stack.pop_all()
        return self._value

    def close(self) -> None:
        """End it, if it runs."""
        stack, self._stack, self._value = self._stack, None, None
        if stack is not None:
            stack.close()
