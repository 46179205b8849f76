// A function of a shell script hides the program of its name, everywhere in the script.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Functions that call the program of their name with more options: the script looks for that program on PATH alone. */
const WRAPPERS = new Set(['buildah']);

const isProgram = (name: string) => spawnSync('bash', ['-c', 'type -P -- "$1"', 'bash', name]).status === 0;

for (const script of ['.ci/run', '.ci/image']) {
  const text = readFileSync(`${root}${script}`, 'utf8');

  test(`${script}: no function hides a program`, () => {
    const functions = [...text.matchAll(/^\s*([a-z_]+)\(\)/gm)].map(([, name]) => name ?? '');
    assert.ok(functions.length > 2, 'the functions are found');
    assert.deepEqual(
      functions.filter((name) => !WRAPPERS.has(name) && isProgram(name)),
      [],
    );
  });
}

test('.ci/image installs buildah although a function has its name', () => {
  const has = /^has\(\) \{.*\}$/m.exec(readFileSync(`${root}.ci/image`, 'utf8'))?.[0] ?? '';
  const script = `${has}\nno_such_program() { :; }\nhas no_such_program`;
  assert.equal(spawnSync('bash', ['-c', script]).status, 1);
  assert.equal(spawnSync('bash', ['-c', `${has}\nhas bash`]).status, 0);
});
