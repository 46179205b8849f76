"""The mail of one mailbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from urllib.parse import quote

import httpx

from .. import models as m
from .._request import OWN_MAILBOX, Options, credential_headers
from .._streams import mailbox_events
from .event_stream import follow_stream
from .files_client import AsyncFilesClient
from .resources import AsyncMailbox
from .transport import AsyncTransport


class AsyncMailboxClient(AsyncMailbox):
    """The mail of one mailbox. Every method raises :class:`agent_mailbox.AgentMailboxError`.

    token: of the mailbox, ``amt_…``; or instead of it ``api_key`` or ``session`` with ``mailbox_id``
    organization_id: which organization, if the person of the session is a member of several
    timeout_seconds: an answer that takes longer is given up
    attempts: tries of a request, the first included
    max_wait_seconds: all waits between the tries of a request together
    headers: sent with every request, e.g. ``x-request-id``
    http_client: makes the requests; it is not closed with this client
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        api_key: str | None = None,
        session: str | None = None,
        organization_id: str | None = None,
        mailbox_id: str | None = None,
        timeout_seconds: float = 30.0,
        attempts: int = 4,
        max_wait_seconds: float = 30.0,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        options = Options(url, timeout_seconds, attempts, max_wait_seconds, headers or {})
        credential = credential_headers(
            token=token, api_key=api_key, session=session, organization_id=organization_id
        )
        self._start(AsyncTransport(options, credential, http_client), mailbox_id)

    def _start(self, transport: AsyncTransport, mailbox_id: str | None) -> None:
        place = OWN_MAILBOX if mailbox_id is None else f"/api/mailboxes/{quote(mailbox_id, safe='')}"
        super().__init__(transport, place)
        self.files = AsyncFilesClient(transport, place)

    @classmethod
    def over(cls, transport: AsyncTransport, mailbox_id: str) -> AsyncMailboxClient:
        """A mailbox of an organization, over the connections of its client."""
        client = cls.__new__(cls)
        client._start(transport, mailbox_id)
        return client

    def events(self, *, last_event_id: str | None = None) -> AsyncGenerator[m.StreamEventsEvent, None]:
        """Changes of the mailbox by any protocol as they happen, across lost connections.

        Store the ``id`` of an event to continue after it later.

        last_event_id: continue after this event: nothing that happened since is missed; default: from now on
        """
        request = self._request("GET", "/api/mailbox/events/stream")
        return follow_stream(self._transport, request, mailbox_events(), last_event_id)

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncMailboxClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
