import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildInOwnProcess, buildWhole, compressFiles } from '#dev/build/build-whole.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'build-whole-'));
const result = path.join(folder, 'dist');
after(() => rmSync(folder, { recursive: true, force: true }));

/** @returns what the build said, nothing if there was none */
async function build(sourceHash: string): Promise<string[]> {
  const said: string[] = [];
  await buildWhole(result, sourceHash, async (unfinished) => {
    for (const name of ['large.js', 'other.js', 'small.js'])
      writeFileSync(path.join(unfinished, name), 'x'.repeat(name === 'small.js' ? 10 : 5_000));
    await compressFiles(unfinished, '*.js', (text) => said.push(text));
  });
  return said;
}

test('a folder is built once for the same sources, and says how far it is', async () => {
  const said = await build('one');
  assert.deepEqual(
    said,
    ['1', '2', '3'].map((count) => `compressing files: ${count} of 3`),
  );
  assert.deepEqual(
    readdirSync(result).filter((name) => name.startsWith('large') || name.startsWith('small')),
    ['large.js', 'large.js.br', 'large.js.gz', 'small.js'],
  );
  assert.deepEqual(await build('one'), []);
  assert.equal((await build('two')).length, 3);
});

test('an interrupted build is not served', async () => {
  await assert.rejects(
    buildWhole(result, 'three', async (unfinished) => {
      writeFileSync(path.join(unfinished, 'half.js'), 'x');
      throw new Error('interrupted');
    }),
  );
  assert.ok(!existsSync(path.join(result, 'half.js')));
  assert.deepEqual(readdirSync(folder), ['dist']);
});

test('what another process has built meanwhile from the same sources stays: it may be in use', async () => {
  await buildWhole(result, 'four', async (unfinished) => {
    writeFileSync(path.join(unfinished, 'ours.js'), 'x');
    writeFileSync(path.join(result, '.source-hash'), 'four');
    writeFileSync(path.join(result, 'theirs.js'), 'x');
  });
  assert.ok(existsSync(path.join(result, 'theirs.js')));
  assert.deepEqual(readdirSync(folder), ['dist']);
});

test('a build in a process of its own says how far it is, and what is wrong', async () => {
  const program = path.join(folder, 'program.ts');
  const library = fileURLToPath(new URL('../../dev/build/build-whole.ts', import.meta.url));
  writeFileSync(
    program,
    `import { writeFileSync } from 'node:fs';
     import { buildAsAsked } from ${JSON.stringify(library)};
     await buildAsAsked(import.meta.filename, async (into, onProgress) => {
       onProgress('half');
       if (into.endsWith('broken')) throw new Error('page.tsx does not compile');
       writeFileSync(into + '/built.js', 'x');
     }, () => Promise.reject(new Error('not asked for')));`,
  );
  const said: string[] = [];
  await buildWhole(result, 'five', (unfinished) => buildInOwnProcess(program, unfinished, (text) => said.push(text)));
  assert.deepEqual(said, ['half']);
  assert.ok(existsSync(path.join(result, 'built.js')));
  await assert.rejects(
    buildInOwnProcess(program, path.join(folder, 'broken'), () => {}),
    /program\.ts ended with 1:[^]*page\.tsx does not compile/,
  );
  rmSync(program);
});
