import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { type ChildProgram, startWatched } from '#dev/launcher/child-process.ts';
import { isAlive } from '#dev/launcher/instance-lock.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'child-process-'));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A program in JavaScript that is ready once it has written its log line. */
function program(script: string, more: Partial<ChildProgram> = {}): ChildProgram {
  const logFile = path.join(folder, `${++count}.log`);
  return {
    name: 'Sample',
    command: process.execPath,
    args: ['-e', script],
    cwd: folder,
    logFile,
    stopSignal: 'SIGTERM',
    stopWithinMs: 300,
    readyWithinMs: 20_000,
    isReady: async () => existsSync(logFile) && readFileSync(logFile, 'utf8').includes('up'),
    ...more,
  };
}

test('a child that does not listen to its signal is killed after its time', async () => {
  const child = await startWatched(
    program(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')`),
  );
  const pid = child.pid();
  await child.stop();
  assert.equal(isAlive(pid), false);
  await child.stop(); // harmless
});

test('a child that ends at once fails the start with its exit code and last words', async () => {
  const start = startWatched(program(`console.error('no disk left'); process.exit(7)`));
  await assert.rejects(start, /Sample ended with exit code 7\.[^]*no disk left/);
});

test('a child that never gets ready is ended', async () => {
  let pid = 0;
  const start = startWatched(
    program(`setInterval(() => {}, 1000)`, {
      readyWithinMs: 300,
      isReady: async (of) => {
        pid = of;
        return false;
      },
    }),
  );
  await assert.rejects(start, /Sample was not ready within 0\.3 s/);
  assert.equal(isAlive(pid), false);
});

test('a child that keeps crashing is started again, then given up with its reason', async () => {
  const crashes: string[] = [];
  let givenUp: Error | undefined;
  const child = await startWatched(
    program(`console.log('up'); setTimeout(() => process.exit(3), 50)`, { restartDelaysMs: [1, 1] }),
    {
      onCrash: (message) => void crashes.push(message),
      onGivenUp: (error) => {
        givenUp = error;
      },
    },
  );
  const reason = await waitUntil('the end of patience', () => givenUp?.message);
  assert.equal(crashes.length, 2);
  assert.match(crashes[0] ?? '', /Sample ended unexpectedly \(exit code 3\)[^]*Restarting it in 0\.001 s \(1 of 2\)/);
  assert.match(reason, /It was restarted 2 times without success/);
  await child.stop();
});
