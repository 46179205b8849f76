import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mcpSetups } from '#client/snippets.ts';
import { withMcpSetups } from '#dev/generate/generated-documents.ts';
import { projectVersion } from '#dev/release/project-version.ts';

const root = new URL('../../', import.meta.url);
const URL_OF_API = 'https://mail.example.com';
const TOKEN = 'amt_x';

/** The settings in an address that Cursor opens. */
const settingsOf = (link: string): unknown =>
  JSON.parse(Buffer.from(new URL(link).searchParams.get('config') ?? '', 'base64').toString());

test('each common host is connected by one line, which names the service, and the token if there is one', () => {
  for (const token of [undefined, TOKEN])
    for (const { kind, text } of mcpSetups(URL_OF_API, token)) {
      assert.equal(text.split('\n').length, 1, kind);
      const said = kind === 'cursor' ? JSON.stringify(settingsOf(text)) : text;
      assert.ok(said.includes(URL_OF_API), kind);
      // Codex reads it from the environment.
      if (kind !== 'codex') assert.equal(said.includes(TOKEN), token !== undefined, kind);
    }
  const [vsCode = ''] = mcpSetups(URL_OF_API).flatMap(({ kind, text }) => (kind === 'vs-code' ? [text] : []));
  assert.deepEqual(JSON.parse(/'(.*)'$/.exec(vsCode)?.[1] ?? ''), {
    name: 'mailbox',
    type: 'http',
    url: `${URL_OF_API}/mcp`,
  });
});

test('the document shows these lines', () => {
  const document = readFileSync(new URL('docs/mcp.md', root), 'utf8');
  assert.equal(withMcpSetups(document), document, 'run `npm run generate`');
  for (const { title, text } of mcpSetups(URL_OF_API))
    assert.ok(document.includes(`| ${title} | \`${text}\` |`), title);
});

test('server.json has the version of the project and the command that serves stdio', () => {
  const server = JSON.parse(readFileSync(new URL('server.json', root), 'utf8')) as {
    version: string;
    packages: { identifier: string; version: string; packageArguments: { value: string }[] }[];
    remotes: { url: string }[];
  };
  const { name } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { name: string };
  const version = projectVersion(new URL('.', root).pathname);
  assert.deepEqual([server.version, server.packages[0]?.version], [version, version]);
  assert.deepEqual([server.packages[0]?.identifier, server.packages[0]?.packageArguments[0]?.value], [name, 'mcp']);
  assert.match(server.remotes[0]?.url ?? '', /\/mcp$/);
});
