"""A page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """A page of a list; ``next_cursor`` is given back as ``cursor`` for the next page, None at the end.

    ``model_text``, of lists of messages and threads with ``format="model"``: what a model reads of the page.
    Give it this text and no other field.
    """

    data: list[Item]
    next_cursor: str | None
    model_text: str | None = None

    @classmethod
    def of(cls, answer: Any) -> Page[Item]:
        """The list of an answer."""
        return cls(
            data=answer.data, next_cursor=answer.next_cursor, model_text=getattr(answer, "model_text", None)
        )
