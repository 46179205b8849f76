"""The tools of one mailbox, for any program that gives tools to a model.

Names, descriptions and schemas are those of the MCP server of the service, which also does the work: a tool is one
request to it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import httpx

from ._errors import ApiError, ConnectionFailedError, error_of
from ._request import base_url, credential_headers

# `wait_for_message` waits at most 50 s.
TIMEOUT_SECONDS = 90.0
# Without a session, so that any replica answers.
_PROTOCOL = "2025-06-18"


@lru_cache(maxsize=1)
def _definitions() -> list[dict[str, Any]]:
    text = files(__package__).joinpath("tool_definitions.json").read_text("utf-8")
    definitions: list[dict[str, Any]] = json.loads(text)
    return definitions


@dataclass(frozen=True)
class MailboxTool:
    """A tool, independent of what gives it to the model."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of the input."""
    read_only: bool
    """Changes nothing, and sends nothing."""
    url: str
    token: str = field(repr=False)
    """Never in the text of a tool, which programs write to logs."""

    def run(self, arguments: dict[str, Any]) -> str:
        """What the model reads: the answer, or why it was refused and what to do. Mail in it is marked as untrusted.

        Raises :class:`AgentMailboxError` when the service cannot be reached or does not accept the token.
        """
        try:
            response = httpx.post(
                self._address(), headers=self._headers(), json=self._call(arguments), timeout=TIMEOUT_SECONDS
            )
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return self._answer(response)

    async def arun(self, arguments: dict[str, Any]) -> str:
        """The same without blocking."""
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as client:
                response = await client.post(self._address(), headers=self._headers(), json=self._call(arguments))
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return self._answer(response)

    def _address(self) -> str:
        return base_url(self.url) + "/mcp"

    def _headers(self) -> dict[str, str]:
        accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": _PROTOCOL}
        return {**accept, **credential_headers(token=self.token)}

    def _call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in arguments.items() if value is not None}
        params = {"name": self.name, "arguments": given}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    def _unreachable(self, error: httpx.TransportError) -> ConnectionFailedError:
        # Not repeated: a message may have been sent.
        return ConnectionFailedError("unreachable", f"No answer from {self.url}: {error}.", fix="Check the address.")

    def _answer(self, response: httpx.Response) -> str:
        request = f"POST {self._address()}"
        if not response.is_success:
            raise error_of(response, request)
        text = response.text
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            text = next((line[6:] for line in text.splitlines() if line.startswith("data: {")), "")
        try:
            content = json.loads(text)["result"]["content"]
        except (ValueError, KeyError, TypeError) as error:
            raise ApiError(
                "unexpected_answer", "The answer is not that of a tool.", status=response.status_code, request=request
            ) from error
        return "\n".join(part.get("text", f"({part['type']}: not shown to the model)") for part in content)


def mailbox_tools(url: str, token: str, *, only: Collection[str] | None = None) -> list[MailboxTool]:
    """The tools of the mailbox of a token, ``amt_…``.

    only: names of the tools to give; default: all
    """
    return [
        MailboxTool(
            name=each["name"],
            title=each["title"],
            description=each["description"],
            input_schema=each["inputSchema"],
            read_only=each["readOnly"],
            url=url,
            token=token,
        )
        for each in _definitions()
        if only is None or each["name"] in only
    ]
