import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PAGES, pagePreloads } from '#api/documents/dashboard-files.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';

const SCRIPT_MAX_GZIP_BYTES = 200 * 1_024;

before(() => buildDashboard());

const folder = new URL('../../dashboard/dist/', import.meta.url);

test('the script of the first load stays within 200 kB of gzip, whichever page it is', () => {
  const first = readFileSync(new URL('index.html', folder), 'utf8');
  const scriptsOf = (html: string) =>
    [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => `${file}`);
  const size = (file: string) => gzipSync(readFileSync(new URL(file, folder))).length;
  const sum = (files: readonly string[]) => files.reduce((bytes, file) => bytes + size(file), 0);
  const ofDocument = sum(scriptsOf(first));
  assert.ok(ofDocument > 10_000, `${ofDocument} bytes`);
  const manifestFile = fileURLToPath(new URL('.vite/manifest.json', folder));
  const built = Object.keys(JSON.parse(readFileSync(manifestFile, 'utf8')) as object);
  const preloads = pagePreloads(manifestFile);
  for (const [address, sources] of Object.entries(PAGES)) {
    for (const source of sources) assert.ok(built.includes(source), `${address}: no ${source}`);
    const own = scriptsOf(preloads(sources));
    assert.equal(own.length > 0, sources.length > 0, address);
    const bytes = ofDocument + sum(own);
    assert.ok(bytes <= SCRIPT_MAX_GZIP_BYTES, `${address}: ${bytes} bytes`);
  }
});
