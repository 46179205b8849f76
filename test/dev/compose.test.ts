import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { DYNAMIC_CONFIG } from '#dev/launcher/temporal-server.ts';

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

test('docker-compose.yml mounts the folder of TLS_FOLDER where its description says that the certificate is', () => {
  const compose = read('docker-compose.yml');
  const [, place = ''] = /- \$\{TLS_FOLDER:-tls\}:(\S+):ro/.exec(compose) ?? [];
  const described = [...compose.matchAll(/^# {3}TLS_(?:CERT|KEY)=(\S+)$/gm)].map(([, file]) => file ?? '');
  assert.equal(described.length, 2);
  for (const file of described) {
    assert.equal(path.posix.dirname(file), place);
    // The hook copies the files of these names.
    assert.match(compose, new RegExp(`^#.*\\$RENEWED_LINEAGE/${path.posix.basename(file)}"`, 'm'));
  }
});

test('the containers of the service cannot write to their root, and have no capabilities', () => {
  const service = /^x-service: &service\n((?: .*\n)+)/m.exec(read('docker-compose.yml'))?.[1] ?? '';
  for (const line of ['read_only: true', 'cap_drop: [ALL]', 'no-new-privileges:true', '/tmp:noexec,'])
    assert.ok(service.includes(line), line);
});
