/** That each file can be read in one sitting. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A hint that a file has more than one idea. No file is split to satisfy it: raise it, or say why here. */
const LINES_MAX = 500;
const GENERATED = ['client/api-types.ts', 'dashboard/api/openapi.ts', 'integrations/tools/src/tool-definitions.ts'];
const LEFT_OUT = /(?:^|\/)(?:node_modules|test|dist|\.data)(?:\/|$)/;

test('no file has more than 500 lines, outside of tests and generated code', () => {
  const files = globSync('**/*.{ts,tsx,mjs}', { cwd: root, exclude: (name) => LEFT_OUT.test(name) });
  const sources = files.filter((file) => !LEFT_OUT.test(file) && !GENERATED.includes(file));
  assert.ok(sources.length > 500, `${sources.length} files`);
  const long = sources
    .map((file) => ({ file, lines: readFileSync(path.join(root, file), 'utf8').trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > LINES_MAX);
  assert.deepEqual(long, [], 'they may have more than one idea');
});
