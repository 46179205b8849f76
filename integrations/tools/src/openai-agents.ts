/** The tools of a mailbox for the OpenAI Agents SDK. */
import { tool } from '@openai/agents-core';
import { type MailboxToolsOptions, mailboxTools } from './mailbox-tools.ts';

/**
 *   const agent = new Agent({ name: 'Assistant', tools: openAiAgentsTools({ url, token }) });
 */
export const openAiAgentsTools = (options: MailboxToolsOptions) =>
  mailboxTools(options).map(({ name, description, inputSchema, run }) =>
    tool({
      name,
      description,
      // Strict schemas have no optional arguments.
      strict: false,
      parameters: { ...inputSchema, required: [...(inputSchema.required ?? [])], additionalProperties: true },
      execute: (input: unknown, _context, details) => run(input, { signal: details?.signal }),
    }),
  );
