"""One request: its parts, and when it is repeated.

A request is repeated only if that cannot have a second effect:

=================  ============================================================================================
after              repeated
=================  ============================================================================================
429                always: it was refused before anything was done
503, no answer     POST, because all tries carry one Idempotency-Key; others unless ``repeatable`` is False
409 still running  POST whose first try is still running at the server
=================  ============================================================================================

The wait is what Retry-After says, else 0.25 s, doubled each time.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from pydantic import BaseModel

from ._errors import AgentMailboxError, InvalidClientError


class NotGiven(Enum):
    """The type of :data:`NOT_GIVEN`."""

    NOT_GIVEN = "NOT_GIVEN"

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
"""An argument that is omitted: the request does not contain it. None is sent as null, which often means "remove"."""

OWN_MAILBOX = "/api/mailbox"
WAIT_DEFAULT_SECONDS = 30.0
FIRST_WAIT_SECONDS = 0.25


@dataclass(frozen=True)
class Options:
    """How requests are made."""

    url: str
    timeout_seconds: float = 30.0
    attempts: int = 4
    max_wait_seconds: float = 30.0
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """A request, without the address of the service and its credential."""

    method: str
    path: str
    """From ``/api/…`` on."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """Sent as JSON; None: nothing."""
    content: bytes | Path | None = None
    """A body that is not JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    """Whether it can be sent again when it may have been done already."""
    extra_seconds: float = 0.0
    """Beyond the usual time, for answers that wait on purpose."""


def request_of(
    method: str,
    template: str,
    values: Sequence[str] = (),
    *,
    mailbox: str = OWN_MAILBOX,
    query: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    repeatable: bool = True,
    extra_seconds: float = 0.0,
) -> Request:
    """The request of an operation.

    mailbox: where ``/api/mailbox/…`` is asked; a key and a session find it at ``/api/mailboxes/<id>/…``
    """
    rest = iter(values)
    path = re.sub(r"\{\w+\}", lambda _: quote(next(rest), safe=""), template)
    if path == OWN_MAILBOX or path.startswith(OWN_MAILBOX + "/"):
        path = mailbox + path[len(OWN_MAILBOX) :]
    # One key for all tries of a call, so that the service does it once.
    headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())} if method == "POST" else {}
    given = {name: value for name, value in (query or {}).items() if value is not NOT_GIVEN}
    return Request(
        method,
        path,
        query={name: _query_text(value) for name, value in given.items() if value is not None},
        body=None if body is None else jsonable(body),
        headers=headers,
        repeatable=repeatable,
        extra_seconds=extra_seconds,
    )


def jsonable(value: Any) -> Any:
    """A value as JSON has it. Omitted arguments, and fields of models that were not set, are left out."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, datetime):
        # A time without a zone is that of this machine.
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: jsonable(each) for name, each in value.items() if each is not NOT_GIVEN}
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Sequence):
        return [jsonable(each) for each in value]
    return value


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(jsonable(value))


def wait_seconds(given: float | NotGiven) -> float:
    """How long the service waits on purpose."""
    return WAIT_DEFAULT_SECONDS if isinstance(given, NotGiven) else given


def any_given(*values: object) -> bool:
    """Whether one of the arguments was given."""
    return any(value is not NOT_GIVEN for value in values)


def base_url(url: str) -> str:
    """The address of the service, without a slash at its end.

    Raises :class:`InvalidClientError` (``invalid_url``) when it is no http(s) URL.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise InvalidClientError(
            "invalid_url",
            f"{url!r} is not the address of a service.",
            fix="Give an http:// or https:// address, such as http://127.0.0.1:8080.",
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidClientError(
            "invalid_url",
            "The address of a service must not contain a user name or a password.",
            fix="Remove the part before the @.",
        )
    return url.rstrip("/")


def credential_headers(
    *,
    token: str | None = None,
    api_key: str | None = None,
    session: str | None = None,
    organization_id: str | None = None,
) -> dict[str, str]:
    """The headers that carry a credential.

    Raises :class:`InvalidClientError` (``invalid_credential``) unless there is exactly one that can be sent.
    """
    given = [value for value in (token, api_key, session) if value is not None]
    if len(given) != 1:
        raise _invalid_credential("There must be exactly one credential.", "Give a token, an API key or a session.")
    value = given[0].strip()
    # An error of HTTP would name a value that it cannot send, secret or not.
    if not re.fullmatch(r"[\x20-\x7e]+", value):
        raise _invalid_credential(
            "The credential contains line breaks or other invalid characters.",
            "Give the whole credential, for example amt_…, and nothing else.",
        )
    headers = {"x-organization-key": value} if api_key is not None else {"authorization": f"Bearer {value}"}
    if organization_id is not None:
        headers["x-organization-id"] = organization_id
    return headers


def _invalid_credential(message: str, fix: str) -> InvalidClientError:
    return InvalidClientError("invalid_credential", message, fix=fix)


def seconds_before_repeating(request: Request, error: AgentMailboxError, attempt: int) -> float | None:
    """How long to wait before the request is sent again; None: it must not be.

    attempt: how many there were
    """
    if not _may_repeat(request, error):
        return None
    return float(error.retry_after_seconds or FIRST_WAIT_SECONDS * 2 ** (attempt - 1))


def _may_repeat(request: Request, error: AgentMailboxError) -> bool:
    if error.status == 429:
        return True
    if error.status == 503 or error.status is None:
        return request.repeatable
    is_running = error.code == "idempotency_conflict" and error.retry_after_seconds is not None
    return request.method == "POST" and is_running
