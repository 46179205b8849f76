/** The lines of docs/mcp.md that connect the common hosts, made from the texts that the dashboard shows. */
import { mcpSetups } from '#client/snippets.ts';

const [BEGIN, END] = ['<!-- setups -->', '<!-- /setups -->'];

/** The document with its lines as they are now. */
export function withMcpSetups(document: string): string {
  const rows = mcpSetups('https://mail.example.com').map(
    ({ title, note, text }) => `| ${title} | \`${text.replaceAll('|', '\\|')}\` | ${note} |`,
  );
  const table = ['| host | line | how |', '|---|---|---|', ...rows].join('\n');
  const [before = '', rest = ''] = document.split(BEGIN);
  return `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`;
}
