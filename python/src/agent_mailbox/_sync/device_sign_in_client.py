# Made of _async by `npm run types:python`; do not edit.
"""Signing in on a device without a browser (RFC 8628)."""

from __future__ import annotations

import time
import httpx

from .. import models as m
from .._errors import RateLimitError
from .._request import Options
from .resources import Device
from .transport import Transport

WAIT_MIN_SECONDS = 1.0


class DeviceSignInClient(Device):
    """A person confirms a code on the page of the service, and this program gets a session."""

    def __init__(self, url: str, *, timeout_seconds: float = 30.0, http_client: httpx.Client | None = None) -> None:
        super().__init__(Transport(Options(url, timeout_seconds), {}, http_client))

    def wait(self, begun: m.DeviceSignIn) -> m.DeviceSession:
        """Asks until it is decided: the session, or the reason why there is none."""
        while True:
            time.sleep(max(float(begun.interval_seconds), WAIT_MIN_SECONDS))
            try:
                answer = self.session(device_code=begun.device_code or "")
            except RateLimitError:
                # Asked too soon: another wait.
                continue
            if answer.status != "pending":
                return answer

    def close(self) -> None:
        """Closes its connections."""
        self._transport.close()
