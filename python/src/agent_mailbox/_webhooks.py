"""Checks that a request is a webhook of this service: https://www.standardwebhooks.com."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter, ValidationError

from .models import WebhookEvent, WebhookPublicKey

TOLERANCE_SECONDS = 300
_PREFIX = "whsec_"
_PUBLIC_KEY_PREFIX = "whpk_"
_PRIVATE_KEY_PREFIX = "whsk_"
_PUBLIC_KEY_BYTES = 32

WebhookKey = str | WebhookPublicKey | Mapping[str, Any]
"""What a webhook is verified with: ``whsec_…``, or a public key as ``whpk_…`` or as one of a JSON Web Key Set."""

VerificationCode = Literal[
    "missing_header", "invalid_secret", "wrong_time", "wrong_signature", "invalid_body", "unknown_event"
]


class WebhookVerificationError(Exception):
    """A request that is not a webhook of this endpoint. Answer it with 400.

    ``unknown_event`` is one whose type this version of the package does not know: its signature is right.
    """

    def __init__(self, code: VerificationCode, message: str) -> None:
        super().__init__(message)
        self.code: VerificationCode = code


class _Headers(Protocol):
    def get(self, name: str, /) -> Any: ...


def verify_webhook(
    headers: Mapping[str, Any] | _Headers,
    raw_body: bytes | str,
    secret: WebhookKey | Sequence[WebhookKey],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: datetime | None = None,
) -> WebhookEvent:
    """The event of a webhook, after its signature was verified.

        event = verify_webhook(request.headers, await request.body(), "whsec_…")
        if event.type == "email_received":
            print(event.data.subject)

    raw_body: exactly as received: JSON that was parsed and written again has another signature
    secret: ``whsec_…``; or, for an endpoint with ``publicKeySignature``, a public key: ``whpk_…``, or one of the key set
        of the organization. Public keys need ``pip install "agent-mailbox[ed25519]"``. Several during a rotation
    tolerance_seconds: how far the time of the attempt may be from ours

    Raises :class:`WebhookVerificationError`; and ImportError for a public key, if ``cryptography`` is not installed.
    """
    delivery = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature").split(" ")
    at = time.time() if now is None else now.timestamp()
    is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not is_time or abs(at - int(timestamp)) > tolerance_seconds:
        raise WebhookVerificationError(
            "wrong_time", f"webhook-timestamp is not within {tolerance_seconds} s of this machine’s time."
        )
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    signed = f"{delivery}.{timestamp}.".encode() + body
    keys = [secret] if isinstance(secret, (str, Mapping, WebhookPublicKey)) else secret
    if not any(_is_signed(each, signed, signatures) for each in keys):
        raise WebhookVerificationError("wrong_signature", "No signature of the request is that of the secret or key.")
    return _event(body)


def sign_webhook(delivery: str, body: bytes | str, secret: str, *, at: datetime | None = None) -> dict[str, str]:
    """Headers of a webhook signed like one of the service, to test a receiver with.

    delivery: ``webhook-id``
    body: exactly as it will be sent
    """
    timestamp = str(int(time.time() if at is None else at.timestamp()))
    content = body.encode() if isinstance(body, str) else body
    signature = _hmac(_secret_bytes(secret), f"{delivery}.{timestamp}.".encode() + content)
    return {
        "webhook-id": delivery,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(signature).decode("ascii"),
    }


def _is_signed(key: WebhookKey, signed: bytes, signatures: Sequence[str]) -> bool:
    """Whether a ``v1`` signature is that of the secret, or a ``v1a`` one that of the public key."""
    public = _public_key_bytes(key)
    if public is not None:
        return _is_signed_by_private_key(public, signed, _of_version(signatures, "v1a"))
    expected = _hmac(_secret_bytes(key if isinstance(key, str) else ""), signed)
    return any([hmac.compare_digest(expected, each) for each in _of_version(signatures, "v1")])


def _of_version(signatures: Sequence[str], version: str) -> list[bytes]:
    prefix = f"{version},"
    found = [_bytes_of_base64(each[len(prefix) :]) for each in signatures if each.startswith(prefix)]
    return [each for each in found if each is not None]


def _is_signed_by_private_key(public: bytes, signed: bytes, signatures: Sequence[bytes]) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise ImportError(
            'Webhooks are verified with a public key by the package cryptography: pip install "agent-mailbox[ed25519]"'
        ) from error
    key = Ed25519PublicKey.from_public_bytes(public)
    for each in signatures:
        try:
            key.verify(each, signed)
            return True
        except InvalidSignature:
            continue
    return False


def _hmac(key: bytes, signed: bytes) -> bytes:
    return hmac.new(key, signed, hashlib.sha256).digest()


def _bytes_of_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None


def _public_key_bytes(key: WebhookKey) -> bytes | None:
    """The bytes of a public key; None: it is a secret."""
    if isinstance(key, str):
        if not key.startswith(_PUBLIC_KEY_PREFIX):
            return None
        found = _bytes_of_base64(key[len(_PUBLIC_KEY_PREFIX) :])
    else:
        jwk = key.model_dump() if isinstance(key, WebhookPublicKey) else key
        x = jwk.get("x")
        found = None
        if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519" and isinstance(x, str):
            # Keys of a set have no padding.
            found = _bytes_of_base64(x.translate(_BASE64URL) + "=" * (-len(x) % 4))
    if found is None or len(found) != _PUBLIC_KEY_BYTES:
        raise WebhookVerificationError(
            "invalid_secret", "The public key is not one of Ed25519: whpk_… in base64, or a JSON Web Key."
        )
    return found


_BASE64URL = str.maketrans("-_", "+/")


def _secret_bytes(secret: str) -> bytes:
    # A private or public key is never taken for a secret: everybody could sign with a public one.
    is_key = secret.startswith((_PUBLIC_KEY_PREFIX, _PRIVATE_KEY_PREFIX))
    encoded = secret[len(_PREFIX) :] if secret.startswith(_PREFIX) else secret
    key = None if is_key else _bytes_of_base64(encoded)
    if not key:
        raise WebhookVerificationError("invalid_secret", "The secret is not one of an endpoint: whsec_… in base64.")
    return key


def _header(headers: Mapping[str, Any] | _Headers, name: str) -> str:
    value = headers.get(name)
    if value is None and isinstance(headers, Mapping):
        value = next((each for key, each in headers.items() if str(key).lower() == name), None)
    if isinstance(value, (list, tuple)):
        value = value[0] if value else None
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if not isinstance(value, str) or value == "":
        raise WebhookVerificationError("missing_header", f"The request has no {name}.")
    return value


@lru_cache(maxsize=1)
def _events() -> TypeAdapter[WebhookEvent]:
    return TypeAdapter(WebhookEvent)


def _event(body: bytes) -> WebhookEvent:
    try:
        content = json.loads(body)
    except ValueError as error:
        raise WebhookVerificationError("invalid_body", "The signature is right, but the body is not JSON.") from error
    try:
        return _events().validate_python(content)
    except ValidationError as error:
        kind = content.get("type") if isinstance(content, dict) else None
        raise WebhookVerificationError(
            "unknown_event", f"The signature is right, but this version does not know the event {kind!r}."
        ) from error
