/** An assistant that answers unread mail, with the AI SDK. Any model of it can be given. */
import { aiSdkTools } from '@agent-mailbox/tools/ai-sdk';
import { generateText, type LanguageModel, stepCountIs } from 'ai';

const STEPS_MAX = 10;

/** @returns what the model says at its end */
export async function answerMail(model: LanguageModel, url: string, token: string): Promise<string> {
  const { text } = await generateText({
    model,
    tools: aiSdkTools({ url, token }),
    stopWhen: stepCountIs(STEPS_MAX),
    prompt: 'Read the unread mail, and answer what you can answer.',
  });
  return text;
}
