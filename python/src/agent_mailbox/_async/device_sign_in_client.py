"""Signing in on a device without a browser (RFC 8628)."""

from __future__ import annotations

import anyio
import httpx

from .. import models as m
from .._errors import RateLimitError
from .._request import Options
from .resources import AsyncDevice
from .transport import AsyncTransport

WAIT_MIN_SECONDS = 1.0


class AsyncDeviceSignInClient(AsyncDevice):
    """A person confirms a code on the page of the service, and this program gets a session."""

    def __init__(self, url: str, *, timeout_seconds: float = 30.0, http_client: httpx.AsyncClient | None = None) -> None:
        super().__init__(AsyncTransport(Options(url, timeout_seconds), {}, http_client))

    async def wait(self, begun: m.DeviceSignIn) -> m.DeviceSession:
        """Asks until it is decided: the session, or the reason why there is none."""
        while True:
            await anyio.sleep(max(float(begun.interval_seconds), WAIT_MIN_SECONDS))
            try:
                answer = await self.session(device_code=begun.device_code or "")
            except RateLimitError:
                # Asked too soon: another wait.
                continue
            if answer.status != "pending":
                return answer

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._transport.aclose()
