"""The tools of a mailbox for LangChain and LangGraph: ``pip install agent-mailbox[langchain]``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from .tools import MailboxTool, mailbox_tools


def langchain_tools(url: str, token: str, *, only: Collection[str] | None = None) -> list[BaseTool]:
    """The tools of the mailbox of a token: ``create_agent(model, tools=langchain_tools(url, token))``.

    only: names of the tools to give; default: all
    """
    return [_structured(each) for each in mailbox_tools(url, token, only=only)]


def _structured(tool: MailboxTool) -> BaseTool:
    def run(**arguments: Any) -> str:
        return tool.run(arguments)

    async def arun(**arguments: Any) -> str:
        return await tool.arun(arguments)

    return StructuredTool.from_function(
        func=run,
        coroutine=arun,
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        infer_schema=False,
    )
