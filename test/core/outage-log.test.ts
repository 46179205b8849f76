import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly seconds?: number;
  readonly failures?: number;
}

function recordingLog() {
  const lines: Line[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line);
      done();
    },
  });
  return { lines, log: createLogger('info', destination) };
}

test('an outage is two lines, however many calls fail, with reason, duration and number of failures', () => {
  const { lines, log } = recordingLog();
  let nowMs = 0;
  const outage = outageLog(log, 'PostgreSQL', () => nowMs);
  outage.recovered();
  assert.deepEqual(lines, []);
  for (let n = 0; n < 1_000; n++) {
    outage.failed(new Error('connect ECONNREFUSED'));
    nowMs += 100;
  }
  outage.recovered();
  outage.recovered();
  assert.deepEqual(
    lines.map(({ level, msg, reason, seconds, failures }) => ({ level, msg, reason, seconds, failures })),
    [
      { level: 40, msg: 'PostgreSQL is away', reason: 'connect ECONNREFUSED', seconds: undefined, failures: undefined },
      { level: 30, msg: 'PostgreSQL is back', reason: undefined, seconds: 100, failures: 1_000 },
    ],
  );
});

test('a long outage is remembered every five minutes', () => {
  const { lines, log } = recordingLog();
  let nowMs = 0;
  const outage = outageLog(log, 'Temporal', () => nowMs);
  for (; nowMs <= 16 * 60_000; nowMs += 1_000) outage.failed(new Error('UNAVAILABLE'));
  assert.deepEqual(
    lines.map(({ msg, seconds }) => [msg, seconds]),
    [
      ['Temporal is away', undefined],
      ['Temporal is still away', 300],
      ['Temporal is still away', 600],
      ['Temporal is still away', 900],
    ],
  );
});

test('parts of a process share an outage: it ends when none fails any more', () => {
  const { lines, log } = recordingLog();
  let nowMs = 0;
  const [reader, writer] = [outageLog(log, 'PostgreSQL', () => nowMs), outageLog(log, 'PostgreSQL', () => nowMs)];
  for (let n = 0; n < 50; n++) {
    writer.failed(new Error('read-only'));
    reader.recovered();
    nowMs += 1_000;
  }
  assert.equal(lines.length, 1);
  writer.recovered();
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['PostgreSQL is away', 'PostgreSQL is back'],
  );
});

test('a part that has nothing to do any more does not keep an outage open', () => {
  const { lines, log } = recordingLog();
  let nowMs = 0;
  const [idle, busy] = [outageLog(log, 'PostgreSQL', () => nowMs), outageLog(log, 'PostgreSQL', () => nowMs)];
  idle.failed(new Error('gone'));
  busy.recovered();
  assert.equal(lines.length, 1);
  nowMs += 31_000;
  busy.recovered();
  assert.equal(lines.at(-1)?.msg, 'PostgreSQL is back');
});

test('each dependency and each log has outages of its own', () => {
  const [one, other] = [recordingLog(), recordingLog()];
  outageLog(one.log, 'PostgreSQL').failed(new Error('a'));
  outageLog(one.log, 'Temporal').failed(new Error('b'));
  outageLog(other.log, 'PostgreSQL').failed(new Error('c'));
  assert.deepEqual(
    [one.lines.map(({ reason }) => reason), other.lines.map(({ reason }) => reason)],
    [['a', 'b'], ['c']],
  );
});

test('a reason is never empty: causes and the errors of several addresses are in it', () => {
  const refused = new AggregateError([
    new Error('connect ECONNREFUSED ::1:5432'),
    new Error('connect ECONNREFUSED 127.0.0.1:5432'),
  ]);
  assert.equal(reasonOf(refused), 'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432');
  assert.equal(
    reasonOf(new Error('Failed to start workflow', { cause: new Error('14 UNAVAILABLE: no connection') })),
    'Failed to start workflow: 14 UNAVAILABLE: no connection',
  );
  assert.equal(reasonOf(Object.assign(new Error(''), { code: 'EPIPE' })), 'Error EPIPE');
  assert.equal(reasonOf(undefined), 'unknown error');
  const endless = new Error('a');
  endless.cause = endless;
  assert.equal(reasonOf(endless), 'a');
});
