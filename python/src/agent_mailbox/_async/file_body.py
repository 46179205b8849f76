"""The bytes of a file on disk, while they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio

PORTION_BYTES = 64 * 1024


async def bytes_of(file: Path) -> AsyncIterator[bytes]:
    """In portions, so that a large file needs little memory."""
    async with await anyio.open_file(file, "rb") as opened:
        while portion := await opened.read(PORTION_BYTES):
            yield portion
