/** That `npm ci` can check each package it downloads, and that hashes which are missing can be added. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readLockfile, unverifiedPackages } from '#dev/build/lockfile.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
interface Entry {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}
const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };

/** npm omits the hash of a native build of another system that the registry does not have yet. */
test('every package has a hash', () => {
  const names = unverifiedPackages(readLockfile(text)).map(({ path: entry }) => entry);
  assert.deepEqual(names, [], 'npm run lockfile adds them; CONTRIBUTING.md says what to do if the registry has none');
});

test('hashes are SHA-512, and no entry names the host of a registry', () => {
  assert.ok(Object.keys(packages).length > 300);
  for (const [entry, { integrity, resolved, link }] of Object.entries(packages)) {
    if (integrity !== undefined) assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, entry);
    if (link !== true) assert.equal(resolved, undefined, entry);
  }
});

/** What a machine sets for npm, and proxies, would send it elsewhere than to the registry of the test. */
const withoutNpmSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_|_proxy$/i.test(name)));

test('npm run lockfile adds the hashes that the registry has, changes nothing else and names the others', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lockfile-'));
  const hash = `sha512-${'B'.repeat(86)}==`;
  const server = createServer((request, response) => {
    const known = request.url?.includes('known') === true;
    const dist = { integrity: hash, tarball: 'http://127.0.0.1/none.tgz' };
    const document = {
      name: 'known',
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': { name: 'known', version: '1.2.3', dist } },
    };
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? document : {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = (rest: object) => ({
    name: 'x',
    lockfileVersion: 3,
    packages: {
      '': { name: 'x' },
      'node_modules/@some/gone': { version: '1.0.0', optional: true },
      'node_modules/known': { version: '1.2.3', ...rest, license: 'MIT' },
      'node_modules/ours': { resolved: 'ours', link: true },
      ours: { version: '1.0.0' },
    },
  });
  const write = (content: object) => `${JSON.stringify(content, null, 2)}\n`;
  try {
    const file = path.join(folder, 'package-lock.json');
    writeFileSync(file, write(before({})));
    writeFileSync(path.join(folder, 'package.json'), '{"name":"x"}');
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      run(process.execPath, [path.join(root, 'dev/build/complete-lockfile.ts')], {
        cwd: folder,
        env: {
          ...withoutNpmSettings(),
          npm_config_registry: `http://127.0.0.1:${port}/`,
          npm_config_globalconfig: path.join(folder, 'global-npmrc'),
          npm_config_cache: path.join(folder, 'cache'),
          npm_config_userconfig: path.join(folder, 'npmrc'),
        },
      }),
      ({ code, stdout }: { code: number; stdout: string }) => {
        assert.equal(code, 1);
        assert.match(stdout, /Added 1 hashes[^]*@some\/gone@1\.0\.0: the registry does not have it/);
        return true;
      },
    );
    assert.equal(readFileSync(file, 'utf8'), write(before({ integrity: hash })));
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
