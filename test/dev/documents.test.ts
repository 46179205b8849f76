import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configurationDocument } from '../../dev/configuration-document.ts';

test('docs/configuration.md is what the table of settings says (npm run docs)', () => {
  const written = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  assert.equal(written, configurationDocument());
});
