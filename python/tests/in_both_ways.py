"""The same test for the synchronous and the asynchronous client."""

from __future__ import annotations

import asyncio
import inspect
import unittest
from collections.abc import Callable
from typing import Any

import httpx

from agent_mailbox import AsyncMailboxClient, AsyncOrganizationClient, MailboxClient, OrganizationClient

URL = "http://service.invalid"
Answer = Callable[[httpx.Request], httpx.Response]


async def _awaited(value: Any) -> Any:
    return await value


def done(value: Any) -> Any:
    """The result, awaited if it must be; of a list all items."""
    if inspect.isawaitable(value):
        return asyncio.run(_awaited(value))
    if hasattr(value, "__aiter__"):

        async def items() -> list[Any]:
            return [item async for item in value]

        return asyncio.run(items())
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)) and not hasattr(value, "model_dump"):
        return list(value)
    return value


class Recorder:
    """A service that answers what it is told, and keeps what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.asked: list[httpx.Request] = []
        self._answers = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def asynchronous(self, request: httpx.Request) -> httpx.Response:
        """For the asynchronous client, whose bodies are read without blocking."""
        await request.aread()
        return self(request)


class BothWays(unittest.TestCase):
    """Runs the tests of a class with each client. Subclasses set ``is_async``."""

    is_async = False

    def mailbox(self, answer: Recorder, **options: Any) -> Any:
        """A mailbox of its own token."""
        options = {"token": "amt_x", **options}
        if self.is_async:
            http = httpx.AsyncClient(transport=httpx.MockTransport(answer.asynchronous))
            return AsyncMailboxClient(URL, http_client=http, **options)
        return MailboxClient(URL, http_client=httpx.Client(transport=httpx.MockTransport(answer)), **options)

    def service(self, answer: Recorder) -> Any:
        """An organization."""
        if self.is_async:
            http = httpx.AsyncClient(transport=httpx.MockTransport(answer.asynchronous))
            return AsyncOrganizationClient(URL, api_key="amk_x", http_client=http)
        return OrganizationClient(
            URL, api_key="amk_x", http_client=httpx.Client(transport=httpx.MockTransport(answer))
        )
