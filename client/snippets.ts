/**
 * How a program or a person connects to a mailbox, as text to copy, and one line for each common MCP host. The API, the
 * command line, the documents and the dashboard show these, and a test runs each of them.
 */

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

export interface McpSetup {
  readonly kind: 'claude-code' | 'claude-desktop' | 'cursor' | 'vs-code' | 'codex' | 'gemini-cli';
  readonly title: string;
  /** How to use it, in one sentence. */
  readonly note: string;
  readonly text: string;
}

const SIGN_IN = 'The browser opens: sign in, and pick the mailbox and what the host may do.';
const HEADER = 'Authorization';

/** An address that Cursor opens, with the settings of a server in it. */
const cursorLink = (server: object): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=mailbox&config=${encodeURIComponent(btoa(JSON.stringify(server)))}`;

const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param apiUrl address of the API without a slash at the end
 * @param token of the mailbox, for hosts that cannot open a browser; without it a person signs in
 */
export function mcpSetups(apiUrl: string, token?: string): McpSetup[] {
  const url = `${apiUrl}/mcp`;
  const bearer = token === undefined ? undefined : `Bearer ${token}`;
  const server = { url, ...(bearer === undefined ? {} : { headers: { [HEADER]: bearer } }) };
  const headerOption = bearer === undefined ? '' : ` --header "${HEADER}: ${bearer}"`;
  const how = token === undefined ? SIGN_IN : 'The token is stored in the settings of the host.';
  return [
    {
      kind: 'claude-code',
      title: 'Claude Code',
      note: `Run it in a terminal${token === undefined ? ', then /mcp in Claude Code to sign in' : ''}. ${how}`,
      text: `claude mcp add --transport http mailbox ${url}${headerOption}`,
    },
    {
      kind: 'claude-desktop',
      title: 'Claude Desktop',
      note:
        token === undefined
          ? `Paste it under Settings, Connectors, Add custom connector; the address must be public. ${how}`
          : 'Add it to claude_desktop_config.json, under mcpServers.',
      text:
        token === undefined
          ? url
          : `"mailbox": ${JSON.stringify({ command: 'npx', args: ['agent-mailbox', 'mcp'], env: { AGENT_MAILBOX_URL: apiUrl, AGENT_MAILBOX_TOKEN: token } })}`,
    },
    { kind: 'cursor', title: 'Cursor', note: `Open it in the browser. ${how}`, text: cursorLink(server) },
    {
      kind: 'vs-code',
      title: 'VS Code',
      note: `Run it in a terminal. ${how}`,
      text: `code --add-mcp ${shellText(JSON.stringify({ name: 'mailbox', type: 'http', ...server }))}`,
    },
    {
      kind: 'codex',
      title: 'Codex',
      note:
        token === undefined
          ? `Run it in a terminal. ${how}`
          : 'Run it in a terminal, with the token in AGENT_MAILBOX_TOKEN whenever Codex runs.',
      text:
        token === undefined
          ? `codex mcp add mailbox --url ${url} && codex mcp login mailbox`
          : `codex mcp add mailbox --url ${url} --bearer-token-env-var AGENT_MAILBOX_TOKEN`,
    },
    {
      kind: 'gemini-cli',
      title: 'Gemini CLI',
      note: `Run it in a terminal${token === undefined ? ', then /mcp auth mailbox in Gemini CLI' : ''}. ${how}`,
      text: `gemini mcp add --transport http${headerOption} mailbox ${url}`,
    },
  ];
}
