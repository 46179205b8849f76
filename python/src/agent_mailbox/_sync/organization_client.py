# Made of _async by `npm run types:python`; do not edit.
"""An organization."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from types import TracebackType

import httpx

from .. import models as m
from .._request import Options, credential_headers, request_of
from .._streams import organization_events
from .event_stream import follow_stream
from .mailbox_client import MailboxClient
from .resources import OrganizationResources
from .transport import Transport


class OrganizationClient(OrganizationResources):
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
        http_client: httpx.Client | None = None,
    ) -> None:
        options = Options(url, timeout_seconds, attempts, max_wait_seconds, headers or {})
        credential = credential_headers(api_key=api_key, session=session, organization_id=organization_id)
        self._transport = Transport(options, credential, http_client)
        super().__init__(self._transport)

    def mailbox(self, mailbox_id: str) -> MailboxClient:
        """The mail of one of its mailboxes, with the credential of this client."""
        return MailboxClient.over(self._transport, mailbox_id)

    def events(self, *, last_event_id: str | None = None) -> Generator[m.StreamOrganizationEventsEvent, None]:
        """What changes in the organization, by names and ids, across lost connections.

        Store the ``id`` of an event to continue after it later.

        last_event_id: continue after this event: nothing that happened since is missed; default: from now on
        """
        request = request_of("GET", "/api/organization/events/stream")
        return follow_stream(self._transport, request, organization_events(), last_event_id)

    def close(self) -> None:
        """Closes its connections."""
        self._transport.close()

    def __enter__(self) -> OrganizationClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
