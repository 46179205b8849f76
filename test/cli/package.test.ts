import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { at } from '../support/api-world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
// Below the project, whose packages it finds as it would find its own.
const cache = path.join(root, 'node_modules/.cache/agent-mailbox');
let folder: string;
let manifest: unknown;

before(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(path.join(cache, 'package-'));
  await run(process.execPath, ['dev/build-package.ts', folder], { cwd: root });
  manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the built command runs without TypeScript and says its version', async () => {
  const program = path.join(folder, String(at(manifest, 'bin', 'agent-mailbox')));
  assert.equal(statSync(program).mode & 0o111, 0o111);
  const { stdout } = await run(process.execPath, ['--no-experimental-strip-types', program, '--version']);
  assert.equal(stdout.trim(), at(manifest, 'version'));
});

test('a folder that holds something else is not emptied for the package', async () => {
  const other = mkdtempSync(path.join(cache, 'other-'));
  const file = path.join(other, 'kept.txt');
  writeFileSync(file, 'kept');
  try {
    await assert.rejects(run(process.execPath, ['dev/build-package.ts', other], { cwd: root }), /is not empty/);
    assert.ok(existsSync(file));
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});

test('the client comes with its types and works from the package', async () => {
  const entry = at(manifest, 'exports', '.');
  assert.ok(existsSync(path.join(folder, String(at(entry, 'types')))));
  const client: unknown = await import(pathToFileURL(path.join(folder, String(at(entry, 'default')))).href);
  const MailboxClient = at(client, 'MailboxClient');
  assert.equal(typeof MailboxClient, 'function');
});

test('what the published files import is in the package or among its dependencies', () => {
  const dependencies = Object.keys(at(manifest, 'dependencies') as object);
  const files = globSync('**/*.js', { cwd: folder });
  assert.ok(files.length > 10);
  const used = new Set<string>();
  for (const file of files) {
    const code = readFileSync(path.join(folder, file), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
    for (const [, specifier = ''] of code.matchAll(/(?:from|import|import\()\s*'([^']+)'/g))
      if (specifier.startsWith('.'))
        assert.ok(existsSync(path.join(folder, path.dirname(file), specifier)), `${file}: ${specifier}`);
      else if (!isBuiltin(specifier))
        used.add(
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        );
  }
  assert.deepEqual([...used].toSorted(), dependencies.toSorted());
  // The client itself needs nothing.
  for (const file of files.filter((each) => each.startsWith('client')))
    assert.doesNotMatch(readFileSync(path.join(folder, file), 'utf8'), /^(?:import|export) .*from '[^.]/m);
});
