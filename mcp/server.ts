import { McpServer } from '@modelcontextprotocol/server';
import type { MailboxClient } from '../client/index.ts';
import { changeTools } from './change-tools.ts';
import { readTools } from './read-tools.ts';
import { sendTools } from './send-tools.ts';
import { UNTRUSTED_INSTRUCTIONS } from './untrusted.ts';
import { version } from './version.ts';

/** A message with its attachments has few elements; an argument of millions is an attack on the validator. */
const INPUT_ELEMENTS_MAX = 5_000;

/** An MCP server over one mailbox. It holds no state: over HTTP there is one for each request. */
export function mailboxMcpServer(client: MailboxClient): McpServer {
  const server = new McpServer(
    { name: 'agent-mailbox', title: 'Agent Mailbox', version: version() },
    {
      instructions: `Your own mailbox: read, search, send and sort mail. ${UNTRUSTED_INSTRUCTIONS}`,
      maxToolInputElements: INPUT_ELEMENTS_MAX,
    },
  );
  for (const register of [...readTools, ...sendTools, ...changeTools]) register(server, client);
  return server;
}
