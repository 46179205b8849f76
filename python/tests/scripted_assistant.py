"""Runs the example for LangChain with a model that follows a script: no model is asked."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from langchain_assistant import answer_mail  # noqa: E402

END = "It waits for approval."


class Scripted(BaseChatModel):
    """What it does next depends on what it has seen."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        assert any(each.name == "reply_to_message" and "messageId" in each.args for each in tools)
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        seen = "\n".join(str(each.content) for each in messages)
        found = re.search(r"msg_[0-9a-z]{26}", seen)
        calls = []
        if "consentId" not in seen and found is None:
            calls = [{"name": "list_messages", "args": {"unread": True}, "id": "1"}]
        elif "consentId" not in seen and found is not None:
            calls = [{"name": "reply_to_message", "args": {"messageId": found[0], "text": "It is noon."}, "id": "2"}]
        answer = AIMessage("" if calls else END, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


print(answer_mail(Scripted(), os.environ["MAILBOX_URL"], os.environ["TOKEN"]), end="")
