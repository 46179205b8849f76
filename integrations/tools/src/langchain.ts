/** The tools of a mailbox for LangChain and LangGraph. */
import { type DynamicStructuredTool, tool } from '@langchain/core/tools';
import { type MailboxToolsOptions, mailboxTools } from './mailbox-tools.ts';

/**
 *   const agent = createAgent({ model, tools: langChainTools({ url, token }) });
 */
export const langChainTools = (options: MailboxToolsOptions): DynamicStructuredTool[] =>
  mailboxTools(options).map(({ name, description, inputSchema, run }) =>
    tool((input: unknown, config) => run(input, { signal: config.signal }), { name, description, schema: inputSchema }),
  );
