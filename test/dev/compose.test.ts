import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SETTINGS } from '#core/platform/settings.ts';
import { DYNAMIC_CONFIG } from '#dev/temporal-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('Temporal has the same dynamic configuration in docker-compose.yml as under npm start', () => {
  const pairs = read('deploy/temporal-dynamic-config.yaml').matchAll(/^(\S+):\n {2}- value: (\S+)$/gm);
  assert.deepEqual(Object.fromEntries([...pairs].map(([, key, value]) => [key, value])), DYNAMIC_CONFIG);
});

test('docker-compose.yml sets only settings that exist', () => {
  const block = /^x-environment:.*\n((?: {2}.*\n)+)/m.exec(read('docker-compose.yml'))?.[1] ?? '';
  const names = [...block.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name ?? '');
  assert.ok(names.length > 15);
  assert.deepEqual(
    names.filter((name) => !(name in SETTINGS)),
    [],
  );
});

test('every program docker-compose.yml runs is in the repository and in the image', () => {
  const compose = read('docker-compose.yml');
  const dockerfile = read('Dockerfile');
  const programs = [...compose.matchAll(/command: \["node", "([^"]+)"\]/g)].map(([, program]) => program ?? '');
  assert.deepEqual(programs, ['dev/migrate.ts', 'api/main.ts', 'worker/main.ts', 'mail/main.ts']);
  for (const program of programs) {
    assert.ok(existsSync(path.join(root, program)), program);
    const [folder] = program.split('/');
    assert.match(dockerfile, new RegExp(`^COPY ${folder} `, 'm'));
  }
});

test('the image contains every file that its programs import', () => {
  const copied = new Set([...read('Dockerfile').matchAll(/^COPY (\S+) \.\/\1$/gm)].map(([, folder]) => folder));
  const sent = new Set(
    read('.dockerignore')
      .match(/^!\S+$/gm)
      ?.map((line) => line.slice(1)),
  );
  const seen = new Set<string>();
  const waiting = ['dev/migrate.ts', 'api/main.ts', 'worker/main.ts', 'mail/main.ts', 'cli/main.ts'];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, from, dynamic] of read(file).matchAll(
      /^(?:import|export)\s[^;]*?from '([.#][^']+)'|import\('([.#][^']+)'\)/gm,
    )) {
      const name = from ?? dynamic ?? '';
      waiting.push(name.startsWith('#') ? name.slice(1) : path.join(path.dirname(file), name));
    }
  }
  assert.ok(seen.size > 100);
  for (const file of seen) {
    const [folder = ''] = file.split('/');
    assert.ok(copied.has(folder) && sent.has(folder), `${file} is imported, but ${folder}/ is not in the image`);
  }
});
