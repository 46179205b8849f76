import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { at } from '#test/support/api-world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
// Below the project, whose packages it finds as it would find its own.
const cache = path.join(root, 'node_modules/.cache/agent-mailbox');
let folder: string;
let manifest: unknown;

before(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(path.join(cache, 'package-'));
  await run(process.execPath, ['dev/build/build-packages.ts', 'package', folder], { cwd: root });
  // As an installation puts it there; the link of the workspace leads to TypeScript.
  await run(
    process.execPath,
    ['dev/build/build-packages.ts', 'client', path.join(folder, 'node_modules/@agent-mailbox/client')],
    {
      cwd: root,
    },
  );
  manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the built command runs without TypeScript and says its version', async () => {
  const program = path.join(folder, String(at(manifest, 'bin', 'agent-mailbox')));
  assert.equal(statSync(program).mode & 0o111, 0o111);
  const { stdout } = await run(process.execPath, ['--no-experimental-strip-types', program, '--version']);
  assert.equal(stdout.trim(), at(manifest, 'version'));
});

test('a folder with other contents is not emptied for the package', async () => {
  const other = mkdtempSync(path.join(cache, 'other-'));
  const file = path.join(other, 'kept.txt');
  writeFileSync(file, 'kept');
  try {
    await assert.rejects(
      run(process.execPath, ['dev/build/build-packages.ts', 'package', other], { cwd: root }),
      /is not empty/,
    );
    assert.ok(existsSync(file));
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});

test('imports of the published files are in the package or among its dependencies', () => {
  const dependencies = Object.keys(at(manifest, 'dependencies') as object);
  const files = globSync('{cli,mcp}/**/*.js', { cwd: folder });
  assert.ok(files.length > 10);
  const used = new Set<string>();
  const layers = Object.entries(at(manifest, 'imports') as Readonly<Record<string, string>>);
  for (const file of files) {
    const code = readFileSync(path.join(folder, file), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
    for (const [, specifier = ''] of code.matchAll(/(?<!')(?:from|import|import\()\s*'([^']+)'/g))
      if (specifier.startsWith('.'))
        assert.ok(existsSync(path.join(folder, path.dirname(file), specifier)), `${file}: ${specifier}`);
      else if (specifier.startsWith('#client/')) {
        assert.match(
          specifier,
          /^#client\/(?:index|model-text|snippets)\.ts$/,
          `${file}: not a part that the client exports`,
        );
        used.add('@agent-mailbox/client');
      } else if (specifier.startsWith('#')) {
        const [pattern = '', target = ''] = layers.find(([key]) => specifier.startsWith(key.split('*')[0] ?? '')) ?? [];
        const [before = '', behind = ''] = pattern.split('*');
        const name = specifier.slice(before.length, specifier.length - behind.length);
        assert.ok(existsSync(path.join(folder, target.replace('*', name))), `${file}: ${specifier}`);
      }
      // The package itself is named in the texts that show how to use it.
      else if (!isBuiltin(specifier) && specifier !== at(manifest, 'name'))
        used.add(
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        );
  }
  assert.deepEqual([...used].toSorted(), dependencies.toSorted());
});
