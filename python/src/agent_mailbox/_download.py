"""Bytes that the service answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

import httpx


@dataclass(frozen=True)
class Download:
    """Bytes of a download, with the data of its headers."""

    content: bytes
    content_type: str
    filename: str | None

    @classmethod
    def of(cls, response: httpx.Response) -> Download:
        """The body of an answer."""
        return cls(
            content=response.content,
            content_type=response.headers.get("content-type", "application/octet-stream"),
            filename=_filename(response.headers.get("content-disposition", "")),
        )


def _filename(disposition: str) -> str | None:
    """The name in UTF-8 (RFC 6266, RFC 8187), without any folder it might carry."""
    found = re.search(r"filename\*=UTF-8''([^;]+)", disposition, re.IGNORECASE)
    if found is None:
        return None
    return re.split(r"[\\/]", unquote(found[1]))[-1] or None
