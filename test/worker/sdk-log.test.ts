/** Lines of the Temporal SDK in the log of the worker. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { createLogger } from '#core/platform/log/logger.ts';
import { logSdkLine } from '#worker/start.ts';

test('retries of pollers while Temporal is away are one line, other errors are logged as they are', () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLogger('info', destination);
  for (let retry = 16; retry < 100; retry++)
    logSdkLine(log, 'error', `gRPC call poll_workflow_task_queue retried ${retry} times`, 'tcp connect error');
  assert.equal(lines.length, 1, lines.join(''));
  assert.match(lines[0] ?? '', /Temporal is away/);
  logSdkLine(log, 'error', 'Worker failed', 'out of slots');
  assert.equal(lines.length, 2);
});
