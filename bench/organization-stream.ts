/**
 * `npm run bench:stream`: what idle streams of organizations cost: memory and processor time of an API process and of
 * PostgreSQL, before and with them.
 *
 * Options: `--streams <n>` (1,000), `--seconds <n>` (30) of idling.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { startChild } from './child-calls.ts';
import { cpuSeconds } from './processes.ts';
import type { StreamApiCalls } from './stream-api.ts';
import { createSubscribers, type Subscriber } from './subscribers.ts';

const STREAMS_EACH = 25;
const SETTLE_MS = 3_000;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
  },
});
const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new Error('the options take whole numbers from 1');
  return Number(text);
};
const streams = wholeNumber(values.streams);
const seconds = wholeNumber(values.seconds);

function openStream(url: string, apiKey: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-organization-key': apiKey };
    get(new URL('/api/organization/events/stream', url), { agent, headers }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`a stream was answered ${response.statusCode}`));
    }).on('error', reject);
  });
}

async function measureIdleStreams(
  environment: NodeJS.ProcessEnv,
  subscribers: readonly Subscriber[],
  postgresPid: number,
): Promise<void> {
  const api = await startChild<StreamApiCalls>(new URL('stream-api.ts', import.meta.url), environment);
  const url = await api.call('url', undefined);
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const idle = async () => {
    await delay(SETTLE_MS);
    const [before, postgresBefore] = [await api.call('used', undefined), cpuSeconds(postgresPid)];
    await delay(seconds * 1_000);
    const after = await api.call('used', undefined);
    return {
      ...after,
      cpuMs: (after.cpuMs - before.cpuMs) / seconds,
      postgresMs: ((cpuSeconds(postgresPid) - postgresBefore) * 1_000) / seconds,
    };
  };
  const openSome = async (count: number): Promise<IncomingMessage[]> => {
    const open: IncomingMessage[] = [];
    for (let i = 0; i < count; i++)
      open.push(await openStream(url, subscribers[Math.floor(i / STREAMS_EACH)]?.apiKey ?? '', agent));
    return open;
  };
  // Everything used once before.
  for (const stream of await openSome(100)) stream.destroy();
  const without = await idle();
  const open = await openSome(streams);
  const having = await idle();
  const kilobytes = (bytes: number) => (bytes / 1_024).toFixed(1);
  console.log(`\n${streams} idle streams of ${Math.ceil(streams / STREAMS_EACH)} organizations, an API process`);
  console.log(`  resident MB ${(without.rss / 2 ** 20).toFixed(0)} -> ${(having.rss / 2 ** 20).toFixed(0)}`);
  console.log(
    `  KB for each stream ${kilobytes((having.rss - without.rss) / streams)}, of it JavaScript heap ${kilobytes((having.heapUsed - without.heapUsed) / streams)}`,
  );
  console.log(`  CPU ms a second, process ${without.cpuMs.toFixed(1)} -> ${having.cpuMs.toFixed(1)}`);
  console.log(`  CPU ms a second, PostgreSQL ${without.postgresMs.toFixed(1)} -> ${having.postgresMs.toFixed(1)}`);
  for (const stream of open) stream.destroy();
  await api.stop();
}

const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-stream-'));
const postgres = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0 });
try {
  const environment = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    API_PORT: '0',
    METRICS_PORT: '0',
    // Nothing listens there, and nothing asks.
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  };
  const migrating = await openDatabase({ url: postgres.url, poolMax: 1 });
  await migrate(migrating);
  await migrating.close();
  const services = await openServices(
    readSettings({ ...process.env, ...environment, DATABASE_POOL_MAX: '2' }),
    pino({ level: 'silent' }),
  );
  const subscribers = await createSubscribers(services, {
    organizations: Math.ceil(streams / STREAMS_EACH),
    mailboxesEach: 1,
    urls: () => [],
  });
  await services.close();
  await measureIdleStreams(environment, subscribers, postgres.pid());
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
