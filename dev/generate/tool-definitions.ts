/**
 * The definitions of the tool packs, in TypeScript and Python, from the tools of the MCP server: one place says
 * what a tool is called, does and takes. The files are committed; a test compares them.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { MailboxClient } from '#client/index.ts';
import { mailboxMcpServer } from '#mcp/server.ts';

const root = new URL('../../', import.meta.url);
const TYPESCRIPT = fileURLToPath(new URL('integrations/tools/src/tool-definitions.ts', root));
const PYTHON = fileURLToPath(new URL('python/src/agent_mailbox/tool_definitions.json', root));

/** Each file with its text, as the MCP server has the tools now. */
export async function toolDefinitionFiles(): Promise<ReadonlyMap<string, string>> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  // As over HTTP: programs on other machines have no files here.
  await mailboxMcpServer(new MailboxClient({ url: 'http://service.invalid', token: 'amt_x' })).connect(far);
  const client = new Client({ name: 'definitions', version: '1' });
  await client.connect(near);
  const { tools } = await client.listTools();
  await client.close();
  const definitions = tools
    .map(({ name, title = name, description = '', inputSchema, annotations }) => ({
      name,
      title,
      description,
      readOnly: annotations?.readOnlyHint === true,
      inputSchema,
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const json = JSON.stringify(definitions, undefined, 2);
  const names = definitions.map(({ name }) => `  | '${name}'`).join('\n');
  const typescript = `/** The tools of the MCP server. Made by \`npm run generate\`; do not edit. */

export type ToolName =
${names};

/** A JSON Schema of an object. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

export interface ToolDefinition {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly inputSchema: InputSchema;
}

export const TOOL_DEFINITIONS: readonly ToolDefinition[] = ${json};
`;
  return new Map([
    [TYPESCRIPT, typescript],
    [PYTHON, `${json}\n`],
  ]);
}

/** The committed files that are not those of the MCP server. */
export const outdatedToolDefinitions = async (): Promise<string[]> =>
  [...(await toolDefinitionFiles())]
    .filter(([file, text]) => readFileSync(file, 'utf8') !== text)
    .map(([file]) => file);
