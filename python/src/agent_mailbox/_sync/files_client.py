# Made of _async by `npm run types:python`; do not edit.
"""Files of a mailbox: uploaded once, attached by their id."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from .. import models as m
from .._attachment import content_type_of
from .._errors import InvalidClientError
from .resources import Files

# An upload is given more time than other requests.
UPLOAD_EXTRA_SECONDS = 90.0


class FilesClient(Files):
    """Files that are uploaded once and attached by their id."""

    def upload(
        self,
        file: str | os.PathLike[str] | bytes,
        *,
        filename: str | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.UploadedFile:
        """Upload a file.

        file: its path, from which it is streamed; or its bytes, which need a ``filename``
        """
        content = file if isinstance(file, bytes) else Path(file)
        name = filename or (content.name if isinstance(content, Path) else None)
        if name is None:
            raise InvalidClientError("missing_filename", "Bytes have no name.", fix="Give a filename.")
        request = self._request(
            "POST",
            "/api/mailbox/files",
            query={"filename": name},
            idempotency_key=idempotency_key,
            extra_seconds=UPLOAD_EXTRA_SECONDS,
        )
        headers = {**request.headers, "content-type": content_type or content_type_of(name)}
        answer = self._send(replace(request, content=content, headers=headers))
        return self._parse(m.UploadedFile, answer)

    def attach(
        self,
        file: str | os.PathLike[str] | bytes,
        *,
        filename: str | None = None,
        content_type: str | None = None,
    ) -> m.NewAttachment:
        """Upload a file, and name it as an attachment of a message: ``attachments=[mailbox.files.attach("a.pdf")]``."""
        uploaded = self.upload(file, filename=filename, content_type=content_type)
        return m.NewAttachment(file_id=uploaded.id)
