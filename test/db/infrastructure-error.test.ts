import assert from 'node:assert/strict';
import { test } from 'node:test';
import { infrastructureFault, isAnswerLost, isInfrastructureError } from '#db/infrastructure-error.ts';

const withCode = (code: string) => Object.assign(new Error('as PostgreSQL says it'), { code });

const CASES = [
  ['ECONNREFUSED', 'unreachable'],
  ['53300', 'unreachable'],
  ['57P03', 'unreachable'],
  ['EMFILE', 'unreachable'],
  ['57P04', 'unreachable'],
  ['08001', 'unreachable'],
  ['08004', 'unreachable'],
  ['ECONNRESET', 'connection_lost'],
  ['EPIPE', 'connection_lost'],
  ['57P01', 'connection_lost'],
  ['57P05', 'connection_lost'],
  ['08000', 'connection_lost'],
  ['08P01', 'connection_lost'],
  ['25P03', 'connection_lost'],
  ['40003', 'connection_lost'],
  ['57P02', 'connection_lost'],
  ['08006', 'connection_lost'],
  ['53100', 'out_of_resources'],
  ['53200', 'out_of_resources'],
  ['53400', 'out_of_resources'],
  ['58030', 'out_of_resources'],
  ['25006', 'read_only'],
  ['40001', 'conflict'],
  ['40P01', 'conflict'],
] as const;

for (const [code, fault] of CASES)
  test(`${code} is an infrastructure error: ${fault}`, () => {
    assert.equal(infrastructureFault(withCode(code)), fault);
    assert.equal(infrastructureFault(new Error('flushing failed', { cause: withCode(code) })), fault);
    assert.equal(infrastructureFault(new AggregateError([new Error('one'), withCode(code)])), fault);
  });

/** As PostgreSQL 15 and 17 write them where the disk is full or broken, with the code they have for all that has none. */
const STORAGE = [
  'could not write init file',
  'could not extend file "base/16384/2619": No space left on device',
  'could not write to file "pg_wal/xlogtemp.52": No space left on device',
  'could not open file "base/16384/2619": Too many open files in system',
  'could not access status of transaction 731',
  'could not create directory "base/pgsql_tmp": Read-only file system',
  'could not rename file "pg_stat_tmp/global.tmp" to "pg_stat_tmp/global.stat"',
  'could not fsync file "base/16384/2619": Input/output error',
] as const;
for (const message of STORAGE)
  test(`XX000 "${message}" is an infrastructure error: out_of_resources`, () => {
    const error = Object.assign(new Error(message), { code: 'XX000' });
    assert.equal(infrastructureFault(error), 'out_of_resources');
    assert.equal(infrastructureFault(new Error(message)), undefined, 'only as PostgreSQL says it');
  });

for (const message of [
  'could not open relation with OID 16402',
  'cache lookup failed for relation 16402',
  'could not find pathkey item to sort',
  'tuple concurrently updated',
])
  test(`XX000 "${message}" is a fault of the work`, () =>
    assert.equal(infrastructureFault(Object.assign(new Error(message), { code: 'XX000' })), undefined));

for (const [code, severity, fault] of [
  ['XX000', 'FATAL', 'connection_lost'],
  ['XX001', 'PANIC', 'connection_lost'],
  ['28P01', 'FATAL', 'unreachable'],
  ['3D000', 'FATAL', 'unreachable'],
  ['XX000', 'ERROR', undefined],
  ['28000', 'ERROR', undefined],
] as const)
  test(`${severity} with ${code}: ${fault ?? 'a fault of the work'}`, () =>
    assert.equal(infrastructureFault(Object.assign(withCode(code), { severity })), fault));

/** As the driver and its pool throw them. */
for (const [message, fault] of [
  ['timeout exceeded when trying to connect', 'unreachable'],
  ['timeout expired', 'unreachable'],
  ['Cannot use a pool after calling end on the pool', 'unreachable'],
  ['The server does not support SSL connections', 'unreachable'],
  ['Connection terminated', 'connection_lost'],
  ['Connection terminated unexpectedly', 'connection_lost'],
  ['Connection terminated due to connection timeout', 'connection_lost'],
  ['Client was closed and is not queryable', 'connection_lost'],
  ['Client has encountered a connection error and is not queryable', 'connection_lost'],
  ['Query read timeout', 'connection_lost'],
  ['Received unexpected commandComplete message from backend.', 'connection_lost'],
] as const)
  test(`"${message}" is an infrastructure error: ${fault}`, () =>
    assert.equal(infrastructureFault(new Error(message)), fault));

for (const code of ['23505', '22021', '42P01', '23503', '54000', 'ENOENT', '5310'])
  test(`${code} is a fault of the statement`, () => assert.equal(isInfrastructureError(withCode(code)), false));

test('only a lost connection leaves open whether the commit was done', () => {
  assert.equal(isAnswerLost(withCode('57P01')), true);
  assert.equal(isAnswerLost(withCode('53100')), false);
  assert.equal(isAnswerLost(withCode('40P01')), false);
});
