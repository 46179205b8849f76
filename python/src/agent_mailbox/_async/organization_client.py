"""An organization."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from types import TracebackType

import httpx

from .. import models as m
from .._request import Options, credential_headers, request_of
from .._streams import organization_events
from .event_stream import follow_stream
from .mailbox_client import AsyncMailboxClient
from .resources import AsyncOrganizationResources
from .transport import AsyncTransport


class AsyncOrganizationClient(AsyncOrganizationResources):
    """An organization, managed by an API key within its scopes, or by a person's session.

    Every method raises :class:`agent_mailbox.AgentMailboxError`.

    api_key: ``amk_…``; or instead of it ``session``, ``ams_…``
    organization_id: which organization, if the person of the session is a member of several
    timeout_seconds, attempts, max_wait_seconds, headers, http_client: as of a mailbox's client
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        session: str | None = None,
        organization_id: str | None = None,
        timeout_seconds: float = 30.0,
        attempts: int = 4,
        max_wait_seconds: float = 30.0,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        options = Options(url, timeout_seconds, attempts, max_wait_seconds, headers or {})
        credential = credential_headers(api_key=api_key, session=session, organization_id=organization_id)
        self._transport = AsyncTransport(options, credential, http_client)
        super().__init__(self._transport)

    def mailbox(self, mailbox_id: str) -> AsyncMailboxClient:
        """The mail of one of its mailboxes, with the credential of this client."""
        return AsyncMailboxClient.over(self._transport, mailbox_id)

    def events(self, *, last_event_id: str | None = None) -> AsyncGenerator[m.StreamOrganizationEventsEvent, None]:
        """What changes in the organization, by names and ids, across lost connections.

        Store the ``id`` of an event to continue after it later.

        last_event_id: continue after this event: nothing that happened since is missed; default: from now on
        """
        request = request_of("GET", "/api/organization/events/stream")
        return follow_stream(self._transport, request, organization_events(), last_event_id)

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncOrganizationClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
