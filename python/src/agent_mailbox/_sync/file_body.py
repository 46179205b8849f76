"""The bytes of a file on disk, while they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PORTION_BYTES = 64 * 1024


def bytes_of(file: Path) -> Iterator[bytes]:
    """In portions, so that a large file needs little memory."""
    with file.open("rb") as opened:
        while portion := opened.read(PORTION_BYTES):
            yield portion
