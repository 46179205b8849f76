"""Makes requests with one credential."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx

from .._errors import (
    AgentMailboxError,
    ConnectionFailedError,
    NoAnswerError,
    RequestTimeoutError,
    error_of,
    reason_of,
)
from .._request import Options, Request, base_url, seconds_before_repeating
from .file_body import bytes_of

# The service writes a comment into a stream every 15 s: a connection that is silent for longer is broken.
SILENT_MAX_SECONDS = 40.0


class AsyncTransport:
    """Requests to one service with one credential, repeated where that cannot have a second effect."""

    def __init__(
        self, options: Options, credential: Mapping[str, str], http_client: httpx.AsyncClient | None = None
    ) -> None:
        self._options = options
        self._url = base_url(options.url)
        self._headers = {"accept": "application/json", **options.headers, **credential}
        self._is_own = http_client is None
        self._http = http_client or httpx.AsyncClient()

    async def send(self, request: Request) -> httpx.Response:
        """An answer of success, read completely. Raises :class:`AgentMailboxError`."""
        waited = 0.0
        for attempt in range(1, self._options.attempts + 1):
            try:
                return await self._try(request)
            except AgentMailboxError as error:
                wait = seconds_before_repeating(request, error, attempt)
                is_last = attempt == self._options.attempts
                if wait is None or is_last or waited + wait > self._options.max_wait_seconds:
                    raise
            waited += wait
            await anyio.sleep(wait)
        raise AssertionError("a client makes at least one attempt")

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[httpx.Response]:
        """An answer whose body is read while it arrives."""
        timeout = httpx.Timeout(self._options.timeout_seconds, read=SILENT_MAX_SECONDS)
        try:
            async with self._http.stream(
                request.method,
                self._url + request.path,
                params=dict(request.query),
                headers={**self._headers, **request.headers},
                timeout=timeout,
                # As below, whatever the given HTTP client does.
                follow_redirects=False,
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise error_of(response, self._name(request))
                yield response
        except httpx.TransportError as error:
            raise self._no_answer(request, error) from error

    async def _try(self, request: Request) -> httpx.Response:
        timeout = self._options.timeout_seconds
        headers = {**self._headers, **request.headers}
        content = request.content
        if isinstance(content, Path):
            headers["content-length"] = str(content.stat().st_size)
        try:
            response = await self._http.request(
                request.method,
                self._url + request.path,
                params=dict(request.query),
                json=request.body,
                content=bytes_of(content) if isinstance(content, Path) else content,
                headers=headers,
                timeout=httpx.Timeout(timeout, read=timeout + request.extra_seconds),
                # A redirect would carry the credential to another place.
                follow_redirects=False,
            )
        except httpx.TransportError as error:
            raise self._no_answer(request, error) from error
        if not response.is_success:
            raise error_of(response, self._name(request))
        return response

    def _name(self, request: Request) -> str:
        return f"{request.method} {self._url}{request.path}"

    def _no_answer(self, request: Request, error: httpx.TransportError) -> NoAnswerError:
        name = self._name(request)
        if isinstance(error, httpx.TimeoutException):
            return RequestTimeoutError(
                "timeout",
                f"{self._url} did not answer in time.",
                fix="Try again; if the error persists, check the service (GET /readyz).",
                request=name,
            )
        return ConnectionFailedError(
            "unreachable",
            f"No answer from {self._url}: {reason_of(error)}.",
            fix="Check the address, and that the service is running.",
            request=name,
        )

    async def aclose(self) -> None:
        """Closes its connections, unless the caller gave the HTTP client."""
        if self._is_own:
            await self._http.aclose()
