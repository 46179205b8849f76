/** The tools of a mailbox for the AI SDK. */
import { jsonSchema, type Tool, tool } from 'ai';
import { type MailboxToolsOptions, mailboxTools } from './mailbox-tools.ts';

/**
 *   const { text } = await generateText({ model, tools: aiSdkTools({ url, token }), stopWhen: stepCountIs(10), prompt });
 */
export const aiSdkTools = (options: MailboxToolsOptions): Record<string, Tool> =>
  Object.fromEntries(
    mailboxTools(options).map(({ name, title, description, inputSchema, run }) => [
      name,
      tool({
        title,
        description,
        inputSchema: jsonSchema<unknown>({ ...inputSchema } as Parameters<typeof jsonSchema>[0] & object),
        execute: (input: unknown, { abortSignal }) => run(input, { signal: abortSignal }),
      }),
    ]),
  );
