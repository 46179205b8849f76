"""Lists of the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Generic, TypeVar

from .._model import Model
from .._page import Page
from .._request import Request
from .resource import parse_answer
from .transport import AsyncTransport

Item = TypeVar("Item")


class AsyncPagedList(Generic[Item]):
    """A list. Iterated over it is every item, and pages are fetched as they are needed; ``page()`` is one page.

    Nothing is asked before either of the two.
    """

    def __init__(self, transport: AsyncTransport, request: Request, model: type[Model]) -> None:
        self._transport = transport
        self._request = request
        self._model = model

    async def page(self, cursor: str | None = None) -> Page[Item]:
        """One page: the first, or the one at ``next_cursor`` of another."""
        request = self._request
        if cursor is not None:
            request = replace(request, query={**request.query, "cursor": cursor})
        return Page.of(parse_answer(self._model, await self._transport.send(request)))

    async def pages(self) -> AsyncIterator[Page[Item]]:
        """All pages, one after another."""
        page = await self.page()
        yield page
        while page.next_cursor is not None:
            page = await self.page(page.next_cursor)
            yield page

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item
