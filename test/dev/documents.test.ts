import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { configurationDocument } from '#dev/generate/generated-documents.ts';

test('docs/configuration.md matches the table of settings (npm run generate)', () => {
  const written = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  assert.equal(written, configurationDocument());
});

const root = new URL('../../', import.meta.url);
const DOCUMENTS = [
  ...['CONTRIBUTING.md', 'README.md', 'SECURITY.md'],
  // Another process may be building `docs/dist`.
  ...globSync('{docs,bench}/**/*.md', { cwd: root, exclude: (name) => /^dist(?:-\d+)?$/.test(path.basename(name)) }),
];
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .map(({ name }) => name);
const NAMED_FILE = new RegExp(`\`((?:${folders.join('|')})/[\\w./-]+\\.(?:ts|tsx|mjs|json|md|yml))\``, 'g');

test('every file that a document names is there', () => {
  const named = DOCUMENTS.flatMap((document) =>
    [...readFileSync(new URL(document, root), 'utf8').matchAll(NAMED_FILE)].map(([, file = '']) => ({
      document,
      file,
    })),
  );
  assert.ok(named.length > 100, `only ${named.length} files are named`);
  assert.deepEqual(
    named.filter(({ file }) => !existsSync(new URL(file, root))),
    [],
  );
});
