import { McpServer } from '@modelcontextprotocol/server';
import type { MailboxClient } from '#client/index.ts';
import { UNTRUSTED_INSTRUCTIONS } from '#client/model-text.ts';
import { aliasTools } from './alias-tools.ts';
import {
  ATTACHMENTS,
  ATTACHMENTS_OF_SENDERS,
  type Attachments,
  attachmentsByPath,
  type LocalFiles,
  uploadTools,
} from './attachments.ts';
import { draftTools } from './draft-tools.ts';
import { changeTools, readTools } from './message-tools.ts';
import { addResources } from './resources.ts';
import { sendTools } from './send-tools.ts';
import type { McpAccess, Tool } from './tool.ts';
import { version } from './version.ts';

/** A message with its attachments has few elements; an argument of millions is an attack on the validator. */
const INPUT_ELEMENTS_MAX = 5_000;

const toolsWith = (attachments: Attachments): readonly Tool[] => [
  ...readTools,
  ...sendTools(attachments),
  ...draftTools(attachments),
  ...aliasTools,
  ...changeTools,
];
// Compiled once: over HTTP there is a server for each request.
const TOOLS_OVER_HTTP = [...toolsWith(ATTACHMENTS), ...uploadTools];
/** Over HTTP, where the access of a program is known. */
const TOOLS_OF_SENDERS = [...readTools, ...sendTools(ATTACHMENTS_OF_SENDERS), ...uploadTools];

/** For a server that runs on the machine that has the agent's files. */
export const localTools = (files: LocalFiles): readonly Tool[] => toolsWith(attachmentsByPath(files));

/**
 * An MCP server over one mailbox. It has no state: over HTTP there is one for each request.
 *
 * @param access limits the listed tools; the API enforces the access of the credential in any case
 * @param tools default: those over HTTP
 */
export function mailboxMcpServer(
  client: MailboxClient,
  access: McpAccess = 'full',
  tools: readonly Tool[] = access === 'send' ? TOOLS_OF_SENDERS : TOOLS_OVER_HTTP,
): McpServer {
  const server = new McpServer(
    { name: 'agent-mailbox', title: 'Agent Mailbox', version: version() },
    {
      instructions: `Your own mailbox: read, search, send and organize mail. ${UNTRUSTED_INSTRUCTIONS}`,
      maxToolInputElements: INPUT_ELEMENTS_MAX,
    },
  );
  for (const tool of tools) if (tool.isFor(access)) tool.register(server, client);
  if (access !== 'send') addResources(server, client);
  return server;
}
