/** Requests that are refused because of the database are one line of the log together, however many there are. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { startApi } from '#api/start.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openReadiness } from '#core/process/readiness.ts';
import { type ApiWorld, apiWorld, errorCode } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const REQUESTS = 60;
const WARN = 40;
let world: ApiWorld;
const written: string[] = [];
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

test('a burst of requests refused by a full disk logs one line, and one when it is over', async () => {
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(...chunk.toString().split('\n').filter(Boolean));
      done();
    },
  });
  const services = { ...world.services, log: createLogger('info', destination) };
  const temporal = connectTemporal(services.settings);
  const readiness = openReadiness(services, 'api');
  readiness.useTemporal(temporal);
  const api = await startApi(services, temporal, undefined, readiness);
  await world.sql(
    `create function disk_full() returns trigger language plpgsql as
     $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
  );
  // What the requests write, and what the check of readiness does.
  for (const table of ['mailboxes', 'domains', 'readiness_probe'])
    await world.sql(
      `create trigger disk_full before insert on ${table} for each statement execute function disk_full()`,
    );
  const refuse = async (path: string, body: object): Promise<void> => {
    const answer = await world.call('POST', `${api.url}${path}`, { as: world.organization.key, body });
    assert.deepEqual([answer.status, errorCode(answer)], [503, 'unavailable'], answer.text);
  };
  const lines = () =>
    written.map((line) => JSON.parse(line) as { level: number; msg: string; failures?: number; check?: string });
  try {
    await Promise.all(
      Array.from({ length: REQUESTS / 2 }, async (_, n) => {
        await refuse('/api/mailboxes', {});
        await refuse('/api/domains', { name: `d${n}.example` });
      }),
    );
    assert.deepEqual(
      // The server of the tests has settings of its own that harm.
      lines().flatMap(({ level, msg, check }) => (level >= WARN && check !== 'databaseSettings' ? [msg] : [])),
      ['PostgreSQL is away'],
    );
    await world.sql('drop function disk_full cascade');
    // Its last result holds for a moment.
    await waitUntil('the readiness check to pass', async () => {
      await readiness.current();
      return lines().some(({ msg }) => msg === 'PostgreSQL is back');
    });
    const back = lines().find(({ msg }) => msg === 'PostgreSQL is back');
    assert.ok(back !== undefined, 'the end of the outage is logged');
    assert.ok(Number(back.failures) >= REQUESTS);
  } finally {
    await api.close();
    await readiness.close();
    await temporal.close();
  }
});
