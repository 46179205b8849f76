"""What all models have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, WrapValidator


def camel_case(name: str) -> str:
    """The name of a field in JSON: ``size_bytes`` is ``sizeBytes``, ``from_`` is ``from``."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


# What a person types, and what the service shows once.
_SECRETS = frozenset(
    {
        "token",
        "key",
        "secret",
        "password",
        "current_password",
        "new_password",
        "device_code",
        "user_code",
        "challenge",
        "recovery_codes",
        "uri",
        "accept_url",
        "reset_url",
        "redirect_url",
        "browser_key",
        "link",
    }
)
_SECRETS_OF = {"Upload": "url", "NewChatWebhook": "url", "WebhookAuthHeader": "value"}


class Model(BaseModel):
    """An object of the API. Its fields cannot be assigned; fields of a newer service are ignored."""

    model_config = ConfigDict(
        alias_generator=camel_case,
        populate_by_name=True,
        frozen=True,
        extra="ignore",
        # An import would otherwise build some hundred models, of which a program needs a few.
        defer_build=True,
        protected_namespaces=(),
    )

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Without secrets: programs write models to logs, and errors of tests and type checkers show them."""
        own = _SECRETS_OF.get(type(self).__name__)
        for name, value in super().__repr_args__():
            is_secret = isinstance(value, (str, list)) and (name in _SECRETS or name == own)
            yield name, "(secret)" if is_secret else value


def _known_or_text(value: Any, known: ValidatorFunctionWrapHandler) -> Any:
    try:
        return known(value)
    except ValidationError:
        if isinstance(value, str):
            return value
        raise


OPEN = WrapValidator(_known_or_text)
"""Of a field with named values: a newer service may answer another one, which is no reason to fail."""
