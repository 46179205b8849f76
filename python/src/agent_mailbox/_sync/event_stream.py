# Made of _async by `npm run types:python`; do not edit.
"""Server-sent events, across lost connections: each new one continues after the last event."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import time
import httpx
from pydantic import TypeAdapter, ValidationError

from .._errors import AgentMailboxError
from .._request import Request
from .transport import Transport

Event = TypeVar("Event")

RECONNECT_MIN_SECONDS = 1.0
RECONNECT_MAX_SECONDS = 30.0


def follow_stream(
    transport: Transport, request: Request, events: TypeAdapter[Event], last_event_id: str | None
) -> Generator[Event, None]:
    """Events until ``closed``. Those that this version does not know are left out.

    Raises :class:`AgentMailboxError` when the service refuses the stream.
    """
    last = last_event_id
    wait = RECONNECT_MIN_SECONDS
    while True:
        headers = {"accept": "text/event-stream", **({} if last is None else {"last-event-id": last})}
        try:
            with transport.stream(replace(request, headers=headers)) as response:
                wait = RECONNECT_MIN_SECONDS
                for raw in _raw_blocks(response):
                    # The service sends an id before the first event, so that nothing is missed if the connection
                    # breaks then.
                    last = raw["id"] or last
                    if raw["name"] is None:
                        continue
                    event = _known(events, raw)
                    if event is not None:
                        yield event
                    if raw["name"] == "closed":
                        return
        except AgentMailboxError as error:
            if _is_final(error):
                raise
        time.sleep(wait)
        wait = min(RECONNECT_MAX_SECONDS, wait * 2)


def _is_final(error: AgentMailboxError) -> bool:
    return error.status is not None and error.status < 500 and error.status != 429


def _known(events: TypeAdapter[Event], raw: dict[str, Any]) -> Event | None:
    try:
        return events.validate_python(raw)
    except ValidationError:
        return None


def _raw_blocks(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """WHATWG HTML §9.2.6, as far as the service writes it."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, colon, value = line.partition(": ")
        if colon != "" and name in ("event", "id", "data"):
            fields[name] = value
        elif line == "":
            if fields:
                data = json.loads(fields.get("data", "null"))
                yield {"name": fields.get("event"), "id": fields.get("id"), "data": data}
            fields = {}
