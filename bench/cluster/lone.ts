/**
 * How soon a lone event or mail arrives, without faults. `--idle`: mailboxes made by REST, and what they cost. `--jit`:
 * mails on PostgreSQL servers that compile costly plans (`jit = on`, the default), and on the same servers when they do
 * not, in turn, first quiet, then beside the load, with many deliveries in the tables.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '#bench/event-load.ts';
import { percentiles, textTable } from '#bench/measure.ts';
import { cpuSeconds } from '#bench/processes.ts';
import { createSubscribers } from '#bench/subscribers.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Cluster, SENDER, SERVICE_DATABASE, type WantedEndpoint } from './cluster.ts';
import { loadMessage, openRestClient, openSmtpClient, startLoad } from './load.ts';
import type { PostgresServer } from './servers.ts';

const WARM_UP = 100;
/** Between two, so that the work of the previous one is done. */
const PAUSE_MS = 50;

export const IDLE_ENDPOINTS: readonly WantedEndpoint[] = [{ path: '/ok-1', eventTypes: ['mailbox_created'] }];

/** Makes events one after another. @returns the figures as text */
export async function idleReport({ sink, of, customer, programs }: Cluster, events: number): Promise<string> {
  const clients = of('api').map(({ port }) => openRestClient(`http://127.0.0.1:${port('API_PORT')}`, customer.apiKey));
  const [fromCallMs, callMs]: [number[], number[]] = [[], []];
  let made = 0;
  async function make(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const began = monotonicMs();
      const outcome = await clients[n % clients.length]?.createMailbox(`idle ${made}`);
      if (outcome?.kind !== 'accepted') throw new Error(`a mailbox was not made: ${JSON.stringify(outcome)}`);
      callMs.push(monotonicMs() - began);
      fromCallMs.push((await sink.call('arrived', { path: '/ok-1', count: ++made })) - began);
      await delay(PAUSE_MS);
    }
  }
  try {
    await make(WARM_UP);
    const before = programs().map(({ pid }) => cpuSeconds(pid()));
    await make(events);
    const cpu = programs().map(({ name, pid }, n) => {
      const perThousand = ((cpuSeconds(pid()) - (before[n] ?? 0)) / events) * 1_000;
      return { name: `  ${name}`, perThousand };
    });
    const [whole, call] = [percentiles(fromCallMs.slice(WARM_UP)), percentiles(callMs.slice(WARM_UP))];
    return textTable([
      [`${events} events one after another`, ''],
      ['p50 ms, call to receiver', whole.p50.toFixed(1)],
      ['p99 ms, call to receiver', whole.p99.toFixed(1)],
      ['p50 ms, of it the call', call.p50.toFixed(1)],
      ['CPU s per 1,000 events', cpu.reduce((sum, each) => sum + each.perThousand, 0).toFixed(2)],
      ...cpu.map(({ name, perThousand }) => [name, perThousand.toFixed(2)]),
    ]);
  } finally {
    for (const client of clients) await client.close();
  }
}

const DELIVERIES = 100_000;
/** The aim: with compilation a lone mail takes at most so many times as long as without. */
export const RATIO_MAX = 1.5;
const LONE_PATH = '/ok-lone';
const WARM_UP_MAILS = 20;
/** Each with and without compilation, in alternating order. */
const ROUNDS = 10;
const LOAD_WARM_UP_MS = 15_000;
const FINISH_WITHIN_MS = 60_000;

type Jit = 'on' | 'off';

/** For sessions that begin and for those that have not set it for themselves. */
async function setJit(server: PostgresServer, jit: Jit): Promise<void> {
  await server.query('postgres', `alter system set jit = ${jit}`);
  await server.query('postgres', 'select pg_reload_conf()');
  await waitUntil(`jit to be ${jit}`, async () => {
    const [row] = await server.query<{ jit: string }>('postgres', `select current_setting('jit') as jit`);
    return row?.jit === jit;
  });
}

/** @param mails of each state of the servers, quiet and beside the load @returns figures, and whether they are as wanted */
export async function loneMailReport(
  cluster: Cluster,
  mails: number,
  perSecond: number,
  say: (text: string) => void,
): Promise<{ readonly text: string; readonly passed: boolean }> {
  const { sink, of, postgres, enginePostgres, ca } = cluster;
  const [row] = await postgres.query<{ is: boolean }>(SERVICE_DATABASE, 'select pg_jit_available() as is');
  if (row?.is !== true) throw new Error('this PostgreSQL was built without LLVM: it compiles nothing. Set PG_BIN.');
  say(`filling ${DELIVERIES} deliveries`);
  await cluster.withServices(async (services) => {
    const [other] = await createSubscribers(services, { organizations: 1, mailboxesEach: 1, urls: () => [] });
    if (other === undefined) throw new Error('no organization was made');
    await insertDeliveries((text, values) => services.db.query(text, values), other.organization.id, DELIVERIES);
  });
  const mailbox = await cluster.makeMailbox('lone');
  await cluster.makeEndpoint({ path: LONE_PATH, eventTypes: ['email_received'], mailboxId: mailbox.id });
  const smtp = of('mail').map(({ port }) => openSmtpClient(port('SMTP_PORT'), ca));
  let sent = 0;

  /** @returns milliseconds from the beginning of the SMTP transaction to the receiver */
  async function one(): Promise<number> {
    const message = loadMessage(`lone-${sent}-`, mailbox.address);
    const beganMs = monotonicMs();
    for (;;) {
      const outcome = await smtp[sent % smtp.length]?.send(SENDER, mailbox.address, message);
      if (outcome?.kind === 'accepted') break;
      say(`a mail was not accepted: ${JSON.stringify(outcome)}`);
      await delay(PAUSE_MS);
    }
    const arrivedMs = await sink.call('arrived', { path: LONE_PATH, count: ++sent });
    await delay(PAUSE_MS);
    return arrivedMs - beganMs;
  }
  async function measure(beside: string) {
    const ms: Record<Jit, number[]> = { on: [], off: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const jit of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
        for (const server of [postgres, enginePostgres]) await setJit(server, jit);
        say(`${beside}, jit ${jit}, round ${round + 1} of ${ROUNDS}`);
        for (let n = 0; n < Math.ceil(mails / ROUNDS); n++) ms[jit].push(await one());
      }
    return { beside, mails: ms.on.length, on: percentiles(ms.on), off: percentiles(ms.off) };
  }

  try {
    for (let n = 0; n < WARM_UP_MAILS; n++) await one();
    const figures = [await measure('quiet')];
    const load = startLoad(cluster, perSecond);
    try {
      await delay(LOAD_WARM_UP_MS);
      figures.push(await measure(`beside ${perSecond} operations/s`));
    } finally {
      await load.finish(FINISH_WITHIN_MS);
      await load.close();
    }
    const text = textTable([
      [
        'a lone mail, ms from MAIL to the receiver',
        'mails',
        'jit on p50',
        'p99',
        'jit off p50',
        'p99',
        'on : off (p50)',
      ],
      ...figures.map(({ beside, mails: count, on, off }) => [
        beside,
        String(count),
        ...[on.p50, on.p99, off.p50, off.p99].map((ms) => ms.toFixed(0)),
        (on.p50 / off.p50).toFixed(2),
      ]),
    ]);
    return { text, passed: figures.every(({ on, off }) => on.p50 / off.p50 <= RATIO_MAX) };
  } finally {
    for (const client of smtp) client.close();
  }
}
