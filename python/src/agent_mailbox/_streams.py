"""The events of streams, by name. They are built when the first stream is opened."""

from __future__ import annotations

from functools import lru_cache

from pydantic import TypeAdapter

from . import models as m


@lru_cache(maxsize=1)
def mailbox_events() -> TypeAdapter[m.StreamEventsEvent]:
    """Of a mailbox."""
    return TypeAdapter(m.StreamEventsEvent)


@lru_cache(maxsize=1)
def organization_events() -> TypeAdapter[m.StreamOrganizationEventsEvent]:
    """Of an organization."""
    return TypeAdapter(m.StreamOrganizationEventsEvent)
