/**
 * How a program or a person connects to a mailbox, as text to copy. The API, the command line and the dashboard show
 * these, and a test runs each of them.
 */

export { type McpSetup, mcpSetups } from './mcp-setups.ts';

/** A listener for mail clients, from `GET /api/mailboxes/:id/connection`. */
export interface SnippetListener {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
  readonly username: string;
}

export interface SnippetFacts {
  /** Address of the API without a slash at the end. */
  readonly apiUrl: string;
  readonly address: string;
  /** The mailbox token if it is known, else a placeholder. */
  readonly token: string;
  readonly imap: SnippetListener;
  readonly pop3: SnippetListener;
  readonly smtp: SnippetListener;
}

export type SnippetKind = 'cli' | 'mail-client' | 'typescript' | 'curl' | 'mcp';

export interface ConnectionSnippet {
  readonly kind: SnippetKind;
  readonly title: string;
  /** How to use it, in one sentence. */
  readonly note: string;
  readonly text: string;
}

/** Placeholder for the token, which is shown only once, when the mailbox is created. */
export const TOKEN_PLACEHOLDER = '<MAILBOX_TOKEN>';

const SECURITY = { tls: 'SSL/TLS', starttls: 'STARTTLS' } as const;

/** One snippet of each kind, in the order in which they are shown. */
export function connectionSnippets(facts: SnippetFacts): ConnectionSnippet[] {
  const { apiUrl, address, token } = facts;
  const listener = (name: string, { host, port, security }: SnippetListener) =>
    `${name.padEnd(10)}${host}  port ${port}  ${SECURITY[security]}`;
  return [
    {
      kind: 'cli',
      title: 'CLI',
      note: 'Run these in a terminal; the login is stored for the commands that follow.',
      text: [
        `npx agent-mailbox login --url=${apiUrl} --token=${token}`,
        'npx agent-mailbox mail inbox',
        'npx agent-mailbox mail open 1',
      ].join('\n'),
    },
    {
      kind: 'mail-client',
      title: 'IMAP, POP3, SMTP',
      note: 'Enter these in any mail client.',
      text: [
        listener('IMAP', facts.imap),
        listener('POP3', facts.pop3),
        listener('SMTP', facts.smtp),
        `${'Username'.padEnd(10)}${address}`,
        `${'Password'.padEnd(10)}${token}`,
      ].join('\n'),
    },
    {
      kind: 'typescript',
      title: 'TypeScript',
      note: 'Lists unread mail.',
      text: [
        `import { MailboxClient } from '@agent-mailbox/client';`,
        '',
        `const mailbox = new MailboxClient({ url: '${apiUrl}', token: '${token}' });`,
        'for await (const message of mailbox.listMessages({ unread: true }))',
        '  console.log(message.from, message.subject);',
      ].join('\n'),
    },
    {
      kind: 'curl',
      title: 'cURL',
      note: 'Lists the newest mail.',
      text: `curl -sS '${apiUrl}/api/mailbox/messages?limit=10' -H 'authorization: Bearer ${token}'`,
    },
    {
      kind: 'mcp',
      title: 'MCP',
      note: 'Add this to the configuration of an MCP client.',
      text: JSON.stringify(
        {
          mcpServers: {
            mailbox: { type: 'http', url: `${apiUrl}/mcp`, headers: { Authorization: `Bearer ${token}` } },
          },
        },
        null,
        2,
      ),
    },
  ];
}
