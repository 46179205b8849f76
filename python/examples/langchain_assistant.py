"""An assistant that answers unread mail, with LangChain. Any chat model that calls tools can be given."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from agent_mailbox.langchain import langchain_tools

STEPS_MAX = 10


def answer_mail(model: BaseChatModel, url: str, token: str) -> str:
    """What the model says at its end."""
    tools = {tool.name: tool for tool in langchain_tools(url, token)}
    bound = model.bind_tools(list(tools.values()))
    messages: list[BaseMessage] = [HumanMessage("Read the unread mail, and answer what you can answer.")]
    for _ in range(STEPS_MAX):
        answer = bound.invoke(messages)
        messages.append(answer)
        if not isinstance(answer, AIMessage) or not answer.tool_calls:
            return str(answer.content)
        messages.extend(tools[call["name"]].invoke(call) for call in answer.tool_calls)
    raise RuntimeError("the model did not come to an end")
