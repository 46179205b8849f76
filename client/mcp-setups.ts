/** One line for each common MCP host that connects it with a mailbox. The documents and the dashboard show these lines. */

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
