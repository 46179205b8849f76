"""Errors of the client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import httpx


@dataclass(frozen=True)
class ErrorDetail:
    """Where in a request something is wrong: a JSON pointer such as ``/to/0``, or ``query/limit``."""

    path: str
    message: str


_FIELDS_NAMED_MAX = 5


def _in_brackets(details: tuple[ErrorDetail, ...]) -> str:
    if not details:
        return ""
    named = [f"{each.path} {each.message}" for each in details[:_FIELDS_NAMED_MAX]]
    if len(details) > _FIELDS_NAMED_MAX:
        named.append(f"{len(details) - _FIELDS_NAMED_MAX} more")
    return f" ({'; '.join(named)})"


class AgentMailboxError(Exception):
    """What the service refused, or that it could not be reached.

    ``code`` is stable: one of the service's (``/docs/errors``), or of the client: ``unreachable``, ``timeout``,
    ``unexpected_answer``, ``invalid_url``, ``invalid_credential``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        fix: str = "",
        status: int | None = None,
        docs: str | None = None,
        details: tuple[ErrorDetail, ...] = (),
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        request: str | None = None,
    ) -> None:
        self.sentence = message
        """What happened. ``message`` also names the fields in ``details``."""
        self.message = message + _in_brackets(details)
        super().__init__(self.message)
        self.code = code
        self.fix = fix
        """What to do."""
        self.status = status
        """HTTP status; None when there was no answer."""
        self.docs = docs
        """Page about the code."""
        self.details = details
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        """Seconds after which the request may be repeated, if the service said so."""
        self.request = request
        """What was asked, without its query: ``GET http://127.0.0.1:8080/api/mailbox``."""

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.sentence}", *(f"- {each.path}: {each.message}" for each in self.details)]
        if self.fix:
            lines.append(self.fix)
        if self.request is not None:
            lines.append(f"({self.request}{'' if self.request_id is None else ', ' + self.request_id})")
        return "\n".join(lines)


class InvalidClientError(AgentMailboxError):
    """The address or the credential that the client was given cannot be used."""


class NoAnswerError(AgentMailboxError):
    """The service did not answer. Whether it did what was asked is not known."""


class ConnectionFailedError(NoAnswerError):
    """``unreachable``: there was no connection, or it was lost."""


class RequestTimeoutError(NoAnswerError):
    """``timeout``: the answer took too long."""


class ApiError(AgentMailboxError):
    """The service answered an error. ``status`` is its HTTP status."""


class BadRequestError(ApiError):
    """400, 413, 415, 422: the request is wrong; ``details`` says where."""


class AuthenticationError(ApiError):
    """401: the credential is not valid."""


class PermissionDeniedError(ApiError):
    """403: the credential does not allow it."""


class NotFoundError(ApiError):
    """404, 410: there is no such object, or no more."""


class ConflictError(ApiError):
    """409: the state of the object does not allow it."""


class RateLimitError(ApiError):
    """429: too many requests; ``retry_after_seconds`` says when to come back."""


class ServiceError(ApiError):
    """500 and above: the service failed, or is not available."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    413: BadRequestError,
    415: BadRequestError,
    422: BadRequestError,
    429: RateLimitError,
}


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Retry-After (RFC 9110 §10.2.3) in seconds: given as seconds or as a date."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d+\s*", value):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - (now or datetime.now(timezone.utc))).total_seconds())


def _text(value: Any, other: str = "") -> str:
    return value if isinstance(value, str) else other


def error_of(response: httpx.Response, request: str) -> ApiError:
    """The error of an answer that was read.

    An answer without the service's error body, such as a proxy's page, is described by its status.
    """
    status = response.status_code
    kind = _BY_STATUS.get(status, ServiceError if status >= 500 else ApiError)
    request_id = response.headers.get("x-request-id")
    wait = retry_after(response.headers.get("retry-after"))
    try:
        body = response.json()
    except ValueError:
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        code = {503: "unavailable", 429: "rate_limited"}.get(status, "unexpected_answer")
        return kind(
            code,
            f"The service answered with status {status} and without an error body.",
            fix="Check that the address is that of Agent Mailbox, and whether a proxy answered.",
            status=status,
            request_id=request_id,
            retry_after_seconds=wait,
            request=request,
        )
    given = error.get("details")
    details = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return kind(
        error["code"],
        _text(error.get("message"), "The request failed."),
        fix=_text(error.get("fix")),
        status=status,
        docs=_text(error.get("docs")) or None,
        details=tuple(ErrorDetail(_text(each.get("path")), _text(each.get("message"))) for each in details),
        request_id=_text(error.get("requestId")) or request_id,
        retry_after_seconds=wait,
        request=request,
    )


_TLS_REASONS = (
    ("certificate has expired", "its certificate has expired: renew it"),
    ("not yet valid", "its certificate is not valid yet: check the clock of the server"),
    ("self-signed", "its certificate is self-signed: use one of a public certificate authority"),
    ("self signed", "its certificate is self-signed: use one of a public certificate authority"),
    ("hostname mismatch", "its certificate is for another name: use the name that is in the certificate"),
    ("ip address mismatch", "its certificate is for another name: use the name that is in the certificate"),
    ("unable to get", "its certificate cannot be traced to a known authority"),
    ("certificate verify failed", "its certificate cannot be traced to a known authority"),
    ("wrong_version_number", "it does not speak TLS on this port: check the port, and whether it is https"),
    ("record_layer", "it does not speak TLS on this port: check the port, and whether it is https"),
    ("protocol_version", "it supports no version of TLS that is accepted: TLS 1.2 or later is needed"),
    ("unsupported_protocol", "it supports no version of TLS that is accepted: TLS 1.2 or later is needed"),
)


def reason_of(error: Exception) -> str:
    """The reason in words: the text of OpenSSL says nothing to most readers."""
    text = str(error) or type(error).__name__
    if "SSL" not in text and "_ssl.c" not in text:
        return text
    lowered = text.lower()
    for sign, words in _TLS_REASONS:
        if sign in lowered or sign.replace("_", " ") in lowered:
            return words
    return "the TLS handshake failed: check the TLS settings of the server"
