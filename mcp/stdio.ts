import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { MailboxClient } from '#client/index.ts';
import type { LocalFiles } from './attachments.ts';
import { localTools, mailboxMcpServer } from './server.ts';

/** A message of 30 MiB in base64, and room for the rest. */
const MESSAGE_MAX_BYTES = 36 * 1_048_576;

/** Serves MCP on standard input and output until the input ends. Other errors are passed to `onError`. */
export function serveMcpStdio(client: MailboxClient, files: LocalFiles, onError: (error: Error) => void): void {
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MESSAGE_MAX_BYTES });
  const tools = localTools(files);
  serveStdio(() => mailboxMcpServer(client, 'full', tools), { transport, onerror: onError });
}
