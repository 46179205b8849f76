"""Small files to send with a message."""

from __future__ import annotations

import base64
import os
from pathlib import PurePath

from .models import NewAttachment

# Types that mail programs display, the same on each machine; everything else is sent as bytes.
_CONTENT_TYPES = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".eml": "message/rfc822",
    ".gif": "image/gif",
    ".html": "text/html",
    ".ics": "text/calendar",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
    ".zip": "application/zip",
}


def content_type_of(filename: str | os.PathLike[str]) -> str:
    """By the ending of the name."""
    return _CONTENT_TYPES.get(PurePath(filename).suffix.lower(), "application/octet-stream")


def attachment(filename: str, content: bytes | str, content_type: str | None = None) -> NewAttachment:
    """A small file, within the request itself; larger ones are uploaded: ``mailbox.files.attach("report.pdf")``."""
    data = content.encode() if isinstance(content, str) else content
    return NewAttachment(
        filename=filename,
        content_type=content_type or content_type_of(filename),
        content_base64=base64.b64encode(data).decode("ascii"),
    )
