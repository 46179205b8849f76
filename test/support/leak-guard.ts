/**
 * Loaded before each test file: when its tests are over and something still holds the process (a forgotten worker,
 * socket, timer or child), the file fails and says what, instead of hanging.
 */
import { after } from 'node:test';
import { closeKept } from './kept.ts';

const LINGER_MS = 10_000;

// The runner itself loads this too; only the processes of the files have tests.
if (process.env['NODE_TEST_CONTEXT']?.startsWith('child'))
  after(async () => {
    await closeKept();
    setTimeout(() => {
      const held = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`Leaked: ${LINGER_MS / 1000} s after the last test the process is still held by: ${held}\n`);
      process.exit(1);
    }, LINGER_MS).unref();
  });
