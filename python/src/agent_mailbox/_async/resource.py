"""What methods of the client are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from .._errors import ApiError
from .._request import OWN_MAILBOX, Request, request_of
from .transport import AsyncTransport

Answer = TypeVar("Answer", bound=BaseModel)


class AsyncResource:
    """Operations of the API over one transport."""

    def __init__(self, transport: AsyncTransport, mailbox: str = OWN_MAILBOX) -> None:
        self._transport = transport
        self._mailbox = mailbox

    def _request(
        self,
        method: str,
        path: str,
        values: Sequence[str] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        repeatable: bool = True,
        extra_seconds: float = 0.0,
    ) -> Request:
        return request_of(
            method,
            path,
            values,
            mailbox=self._mailbox,
            query=query,
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            extra_seconds=extra_seconds,
        )

    async def _send(self, request: Request) -> httpx.Response:
        return await self._transport.send(request)

    @staticmethod
    def _parse(model: type[Answer], response: httpx.Response) -> Answer:
        return parse_answer(model, response)


def parse_answer(model: type[Answer], response: httpx.Response) -> Answer:
    """The body of an answer. Raises :class:`ApiError` (``unexpected_answer``) when it is another one."""
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise ApiError(
            "unexpected_answer",
            f"The answer is no {model.__name__}: {error.errors(include_input=False, include_url=False)[0]['msg']}.",
            fix="Check that the address is that of Agent Mailbox, and that this package is as new as the service.",
            status=response.status_code,
            request_id=response.headers.get("x-request-id"),
            request=f"{response.request.method} {response.request.url.copy_with(query=None)}",
        ) from error
