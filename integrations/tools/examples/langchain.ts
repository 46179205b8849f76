/** An assistant that answers unread mail, with LangChain. */
import { langChainTools } from '@agent-mailbox/tools/langchain';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';

const STEPS_MAX = 10;

/** @returns what the model says at its end */
export async function answerMail(model: BaseChatModel, url: string, token: string): Promise<string> {
  const tools = langChainTools({ url, token });
  const bound = model.bindTools?.(tools) ?? model;
  const messages: BaseMessage[] = [new HumanMessage('Read the unread mail, and answer what you can answer.')];
  for (let step = 0; step < STEPS_MAX; step++) {
    const answer = await bound.invoke(messages);
    messages.push(answer);
    const calls = answer.tool_calls ?? [];
    if (calls.length === 0) return answer.text;
    for (const call of calls) {
      const chosen = tools.find(({ name }) => name === call.name);
      if (chosen !== undefined) messages.push(await chosen.invoke({ ...call, type: 'tool_call' }));
    }
  }
  throw new Error('the model did not come to an end');
}
