"""Prints which route each method of both clients asks, as JSON: the table of the documentation is compared with it."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from typing import Any

import httpx

from agent_mailbox import (
    AsyncDeviceSignInClient,
    AsyncMailboxClient,
    AsyncOrganizationClient,
    DeviceSignInClient,
    MailboxClient,
    OrganizationClient,
)

URL = "http://service.invalid"
asked: list[str] = []


def _answer(request: httpx.Request) -> httpx.Response:
    asked.append(f"{request.method} {request.url.path}")
    return httpx.Response(418)


def _first(method: Any) -> Any:
    """Calls it with as many arguments as it needs."""
    values: dict[str, Any] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            values[name] = b"x" if name == "file" else "one"
    if "filename" in inspect.signature(method).parameters:
        values["filename"] = "one"
    result = method(**values)
    return result.page() if hasattr(result, "page") else result


async def _run(result: Any) -> None:
    if inspect.isasyncgen(result):
        await result.__anext__()
    elif inspect.isgenerator(result):
        next(result)
    elif inspect.isawaitable(result):
        await result


# `attach` is `upload` and the name of its result.
NOT_CALLED = {"close", "aclose", "over", "attach"}


async def _methods(thing: Any, prefix: str, found: dict[str, list[str]]) -> None:
    for name, member in inspect.getmembers(thing):
        if name.startswith("_") or name in NOT_CALLED or (prefix == "service." and name == "mailbox"):
            continue
        if not inspect.ismethod(member):
            if hasattr(member, "_transport"):
                await _methods(member, f"{prefix}{name}.", found)
            continue
        asked.clear()
        try:
            await _run(_first(member))
        except Exception as error:
            if getattr(error, "status", None) != 418:
                found[f"{prefix}{name}"] = [f"{type(error).__name__}: {error}"]
                continue
        found[f"{prefix}{name}"] = sorted(set(asked))


async def _all(is_async: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    mailbox: Any
    service: Any
    device: Any
    if is_async:
        http = httpx.AsyncClient(transport=httpx.MockTransport(_answer))
        mailbox = AsyncMailboxClient(URL, token="amt_x", http_client=http)
        service = AsyncOrganizationClient(URL, api_key="amk_x", http_client=http)
        device = AsyncDeviceSignInClient(URL, http_client=http)
    else:
        plain = httpx.Client(transport=httpx.MockTransport(_answer))
        mailbox = MailboxClient(URL, token="amt_x", http_client=plain)
        service = OrganizationClient(URL, api_key="amk_x", http_client=plain)
        device = DeviceSignInClient(URL, http_client=plain)
    await _methods(mailbox, "mailbox.", found)
    await _methods(service.mailbox("one"), "service.mailbox(id).", found)
    await _methods(service, "service.", found)
    for name in ("begin", "session"):
        asked.clear()
        try:
            await _run(_first(getattr(device, name)))
        except Exception as error:
            if getattr(error, "status", None) != 418:
                raise
        found[f"device.{name}"] = sorted(set(asked))
    return found


json.dump([asyncio.run(_all(False)), asyncio.run(_all(True))], sys.stdout)
