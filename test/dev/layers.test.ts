/** That a wrong import fails the lint with a sentence that says why (oxlint.config.ts). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'layers-'));

interface Wrong {
  readonly file: string;
  readonly imports: string;
  readonly because: string;
}

/** A wrong import for each row of the table of layers, with the beginning of the answer. */
const WRONG: readonly Wrong[] = [
  { file: 'domain/x.ts', imports: '#db/database.ts', because: 'domain/ imports nothing but itself.' },
  { file: 'domain/x.ts', imports: 'node:fs', because: 'This folder runs without Node and has no I/O' },
  { file: 'db/x.ts', imports: '#core/platform/log/logger.ts', because: 'db/ imports domain/.' },
  { file: 'mime/x.ts', imports: '#db/database.ts', because: 'mime/ turns bytes into structure' },
  {
    file: 'core/platform/x.ts',
    imports: '#mailstore/messages/read-messages.ts',
    because: 'core/ imports domain/, db/ and mime/.',
  },
  {
    file: 'core/webhooks/x.ts',
    imports: '../platform/logger.ts',
    because: 'Begin an import from another folder with #',
  },
  { file: 'mailstore/x.ts', imports: '#sending/submit/submit-message.ts', because: 'mailstore/ is below sending/' },
  {
    file: 'sending/submit/x.ts',
    imports: '#mail/start.ts',
    because: 'sending/ knows neither protocols nor workflows.',
  },
  { file: 'sending/submit/x.ts', imports: '#workflows/index.ts', because: 'sending/ knows neither protocols' },
  { file: 'activities/x.ts', imports: '#workflows/index.ts', because: 'activities/ are effects and know no workflow.' },
  { file: 'workflows/x.ts', imports: '#core/platform/log/logger.ts', because: 'Workflows decide, on domain/ alone.' },
  { file: 'workflows/x.ts', imports: '#activities/delete-history.ts', because: 'Workflows are deterministic' },
  { file: 'operations/x.ts', imports: '#mail/start.ts', because: 'What operators run knows neither protocols' },
  { file: 'worker/x.ts', imports: '#mail/start.ts', because: 'The worker knows no protocol.' },
  { file: 'api/messages/x.ts', imports: '#mail/start.ts', because: 'api/ speaks HTTP and imports use cases.' },
  { file: 'api/messages/x.ts', imports: '#mcp/http.ts', because: 'api/ speaks HTTP and imports use cases.' },
  { file: 'api/messages/x.ts', imports: '#client/index.ts', because: 'api/ speaks HTTP and imports use cases.' },
  { file: 'api/main.ts', imports: '#mail/start.ts', because: 'Only this file of api/ knows the MCP server.' },
  { file: 'mail/smtp/x.ts', imports: '#api/start.ts', because: 'mail/ speaks protocols and imports use cases.' },
  { file: 'domain/x.ts', imports: '@agent-mailbox/mail-store', because: 'domain/ imports nothing but itself.' },
  { file: 'domain/x.ts', imports: '@agent-mailbox/mail-store/sasl', because: 'domain/ imports nothing but itself.' },
  { file: 'domain/x.ts', imports: '#packages/imap/src/wire/parser.ts', because: 'domain/ imports nothing but itself.' },
  { file: 'core/platform/x.ts', imports: '@agent-mailbox/imap', because: 'core/ imports domain/, db/ and mime/.' },
  { file: 'packages/imap/src/x.ts', imports: '#domain/errors.ts', because: 'The engine knows no host.' },
  { file: 'packages/imap/src/x.ts', imports: '@agent-mailbox/pop3', because: 'The engine knows no host.' },
  { file: 'packages/pop3/src/x.ts', imports: '#mailstore/blobs/spool.ts', because: 'The engine knows no host.' },
  { file: 'packages/mail-store/src/x.ts', imports: '@agent-mailbox/imap', because: 'The store knows no protocol.' },
  {
    file: 'packages/mime-structure/src/x.ts',
    imports: '#mime/reply-text.ts',
    because: 'This package imports node: alone.',
  },
  { file: 'client/x.ts', imports: '#domain/errors.ts', because: 'The client is published alone' },
  { file: 'client/x.ts', imports: 'node:fs', because: 'This folder runs without Node' },
  { file: 'mcp/x.ts', imports: '#core/platform/log/logger.ts', because: 'The MCP server speaks HTTP through client/.' },
  {
    file: 'cli/x.ts',
    imports: '#core/platform/log/logger.ts',
    because: 'The command line speaks HTTP through client/.',
  },
  { file: 'examples/x.ts', imports: '#client/index.ts', because: 'An example imports published packages only' },
  {
    file: 'dashboard/components/lists/x.ts',
    imports: '../../api/client.ts',
    because: 'Components know no API and no page',
  },
  {
    file: 'dashboard/api/x.ts',
    imports: '../scenes/mail/queries.ts',
    because: 'These folders know no page and nothing outside of dashboard/.',
  },
  {
    file: 'dashboard/mail-html/x.ts',
    imports: '../../core/platform/log/logger.ts',
    because: 'These folders know no page and nothing outside of dashboard/.',
  },
  { file: 'dashboard/scenes/mail/x.tsx', imports: '../webhooks/queries.ts', because: 'Pages do not import each other' },
  {
    file: 'dashboard/scenes/mail/list/x.ts',
    imports: '../../webhooks/queries.ts',
    because: 'Pages do not import each other',
  },
];

const RIGHT: readonly Omit<Wrong, 'because'>[] = [
  { file: 'domain/right.ts', imports: '#domain/errors.ts' },
  { file: 'db/right.ts', imports: '#domain/errors.ts' },
  { file: 'domain/right.ts', imports: '@agent-mailbox/mail-store/limits' },
  { file: 'mail/smtp/right.ts', imports: '@agent-mailbox/imap' },
  { file: 'packages/imap/src/right.ts', imports: '@agent-mailbox/mail-store/limits' },
  { file: 'core/webhooks/right.ts', imports: '#core/platform/log/logger.ts' },
  { file: 'sending/submit/right.ts', imports: '#mailstore/messages/read-messages.ts' },
  { file: 'api/messages/right.ts', imports: '#sending/submit/submit-message.ts' },
  { file: 'api/main.ts', imports: '#mcp/http.ts' },
  { file: 'cli/right.ts', imports: '#mcp/server.ts' },
  { file: 'examples/right.ts', imports: '@agent-mailbox/client' },
  { file: 'test/right.ts', imports: '#api/start.ts' },
];

/** Messages of the linter by file. */
const found = new Map<string, string[]>();

function write(file: string, imports: readonly string[]): void {
  mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
  const lines = imports.map(
    (each, index) => `import { x as x${index} } from '${each}';\nexport const y${index} = x${index};\n`,
  );
  writeFileSync(path.join(folder, file), lines.join(''));
}

/** A file of its own for each import, whose rules are those of the named file. */
const fileOf = ({ file }: Wrong, index: number) =>
  file === 'api/main.ts' ? file : file.replace('/x.', `/wrong-${index}.`);

before(async () => {
  for (const file of ['oxlint.config.ts', 'package.json', 'tsconfig.json'])
    copyFileSync(path.join(root, file), path.join(folder, file));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [index, wrong] of WRONG.entries()) write(fileOf(wrong, index), [wrong.imports]);
  for (const { file, imports } of RIGHT) write(file, file === 'api/main.ts' ? ['#mail/start.ts', imports] : [imports]);
  const output = await new Promise<string>((resolve) => {
    const program = path.join(root, 'node_modules/.bin/oxlint');
    execFile(program, ['--format=json'], { cwd: folder, maxBuffer: 1 << 24 }, (_, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { message: string; help?: string; code: string; filename: string }[];
  };
  for (const { filename, message, help } of diagnostics)
    found.set(filename, [...(found.get(filename) ?? []), `${message} ${help ?? ''}`]);
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a wrong import is answered with the reason:', () => {
  for (const [index, wrong] of WRONG.entries())
    test(`${wrong.file.replace('/x.', '/….')} imports ${wrong.imports}`, () => {
      const messages = found.get(fileOf(wrong, index)) ?? [];
      assert.equal(messages.length, 1, messages.join('\n'));
      assert.ok(messages[0]?.includes(wrong.because), messages[0]);
      assert.ok(messages[0]?.includes(wrong.imports), messages[0]);
    });
});

test('imports downwards, and any import of a test, are accepted', () => {
  for (const { file, imports } of RIGHT) {
    const messages = found.get(file) ?? [];
    assert.deepEqual(
      messages.filter((message) => message.includes(imports)),
      [],
      file,
    );
  }
});
