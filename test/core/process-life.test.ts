import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '#test/support/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../support/process-life-program.ts', import.meta.url));

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly origin?: string;
  readonly open?: readonly string[];
}

function run(scenario: string) {
  const child = spawn(process.execPath, [PROGRAM, scenario], {
    env: { ...process.env, NODE_TEST_CONTEXT: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const lines = () =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return {
    child,
    lines,
    ended,
    logged: (msg: string) => waitUntil(msg, () => lines().find((line) => line.msg === msg)),
  };
}

test('a process that is asked to stop closes everything and ends with 0', async () => {
  const { child, ended, logged } = run('');
  await logged('running');
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
});

test('stopping has a deadline: the process ends with 1 and says what was still open', async () => {
  const { child, ended, logged } = run('deadline');
  await logged('running');
  child.kill('SIGTERM');
  const { reason, open, level } = await logged('ended at once, without a clean stop');
  assert.equal(await ended, 1);
  assert.equal(level, 60);
  assert.match(reason ?? '', /stopping took longer than 0\.3 s/);
  assert.deepEqual(open, ['stuck', 'interval']);
});

test('a start that hangs does not keep a process that is asked to stop', async () => {
  const { child, ended, logged } = run('start never ends');
  await logged('starting');
  const asking = setInterval(() => child.kill('SIGTERM'), 50);
  await logged('stopping');
  const { open } = await logged('ended at once, without a clean stop');
  clearInterval(asking);
  assert.equal(await ended, 130);
  assert.deepEqual(open, ['start', 'quick', 'interval']);
});

test('a second signal, a second later, ends the process at once with 130', async () => {
  const { child, ended, logged } = run('second signal');
  await logged('running');
  child.kill('SIGTERM');
  await logged('stopping');
  const asking = setInterval(() => child.kill('SIGINT'), 50);
  const { reason, open } = await logged('ended at once, without a clean stop');
  clearInterval(asking);
  assert.equal(await ended, 130);
  assert.match(reason ?? '', /second signal, SIGINT/);
  assert.deepEqual(open, ['stuck', 'interval']);
});

for (const [scenario, origin, reason] of [
  ['uncaught', 'uncaughtException', 'thrown by nobody in particular: the cause'],
  ['rejection without a reason', 'unhandledRejection', 'unknown error'],
  ['reported', 'reported', 'a part ended'],
] as const)
  test(`a fault ends the process with 1 and a reason: ${scenario}`, async () => {
    const { ended, lines } = run(scenario);
    assert.equal(await ended, 1);
    const fatal = lines().filter(({ level }) => level === 60);
    assert.deepEqual(
      fatal.map((line) => [line.origin, line.reason]),
      [[origin, reason]],
    );
  });

test('a fault while stopping is logged and makes the exit code 1', async () => {
  const { child, ended, logged } = run('fault while stopping');
  await logged('running');
  child.kill('SIGTERM');
  assert.equal((await logged('an error while stopping')).reason, 'late fault');
  assert.equal(await ended, 1);
});
