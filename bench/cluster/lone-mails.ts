/**
 * How soon a lone mail becomes a webhook on PostgreSQL servers that compile costly plans (`jit = on`, the default), and
 * on the same servers when they do not: in turn, first quiet, then beside the load, with many deliveries in the tables.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { type Percentiles, percentiles } from '#bench/measure.ts';
import { textTable } from '#bench/report.ts';
import { createSubscribers } from '#bench/subscribers.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Cluster, SERVICE_DATABASE } from './cluster.ts';
import { SENDER, startLoad } from './load.ts';
import { loadMessage } from './load-message.ts';
import type { PostgresServer } from './postgres-server.ts';
import { openSmtpClient, type SmtpClient } from './smtp-client.ts';
import type { LoadMailbox } from './subscriber.ts';

const DELIVERIES = 100_000;
/** The aim: with compilation a lone mail takes at most so many times as long as without. */
export const RATIO_MAX = 1.5;
const LONE_PATH = '/ok-lone';
const WARM_UP_MAILS = 20;
/** Each with and without compilation, in alternating order. */
const ROUNDS = 10;
const PAUSE_MS = 50;
const LOAD_WARM_UP_MS = 15_000;
const FINISH_WITHIN_MS = 60_000;
/** No message of the load is large by it (`load-message.ts`). */
const SMALL = 1;

type Jit = 'on' | 'off';

interface LoneFigures {
  readonly beside: 'quiet' | 'load';
  readonly ms: Readonly<Record<Jit, readonly number[]>>;
}

/** Deliveries of another organization. */
async function fill({ service }: Cluster, count: number): Promise<void> {
  const settings = readSettings({ ...service.environment, DATABASE_POOL_MAX: '2' });
  const services = await openServices(settings, createLogger('warn', pino.destination(2)));
  try {
    const [other] = await createSubscribers(services, { organizations: 1, mailboxesEach: 1, urls: () => [] });
    if (other === undefined) throw new Error('no organization was made');
    await insertDeliveries((text, values) => services.db.query(text, values), other.organization.id, count);
  } finally {
    await services.close();
  }
}

/** A mailbox apart from those of the load, whose mail one endpoint gets. */
async function loneMailbox({ service, subscriber, receiver }: Cluster): Promise<LoadMailbox> {
  const [api] = service.of('api');
  async function post<Answer>(path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${api?.ports['API_PORT']}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-organization-key': subscriber.apiKey },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }
  const mailbox = await post<LoadMailbox>('/api/mailboxes', { name: 'lone' });
  const url = `https://127.0.0.1:${await receiver.call('port', undefined)}${LONE_PATH}`;
  const endpoint = await post<{ secret: string }>('/api/webhooks', {
    url,
    eventTypes: ['email_received'],
    mailboxId: mailbox.id,
  });
  await receiver.call('expect', { path: LONE_PATH, secret: endpoint.secret });
  return mailbox;
}

/** For sessions that begin and for those that have not set it for themselves. */
async function setJit(server: PostgresServer, jit: Jit): Promise<void> {
  await server.query('postgres', `alter system set jit = ${jit}`);
  await server.query('postgres', 'select pg_reload_conf()');
  await waitUntil(`jit to be ${jit}`, async () => {
    const [row] = await server.query<{ jit: string }>('postgres', `select current_setting('jit') as jit`);
    return row?.jit === jit;
  });
}

/** @param mails of each state of the servers, quiet and beside the load @returns the figures as text, and whether they are as wanted */
export async function loneMailReport(
  cluster: Cluster,
  mails: number,
  perSecond: number,
  say: (text: string) => void,
): Promise<{ readonly text: string; readonly passed: boolean }> {
  const { receiver, service, ledger, subscriber, postgres, enginePostgres, ca } = cluster;
  const { version = '', available = false } =
    (
      await postgres.query<{ version: string; available: boolean }>(
        SERVICE_DATABASE,
        `select current_setting('server_version') as version, pg_jit_available() as available`,
      )
    )[0] ?? {};
  if (!available) throw new Error(`PostgreSQL ${version} was built without LLVM: it compiles nothing. Set PG_BIN.`);
  say(`PostgreSQL ${version}; filling ${DELIVERIES} deliveries`);
  await fill(cluster, DELIVERIES);
  const mailbox = await loneMailbox(cluster);
  const smtp: SmtpClient[] = service.of('mail').map(({ ports }) => openSmtpClient(ports['SMTP_PORT'] ?? 0, ca));
  let sent = 0;

  /** @returns milliseconds from the beginning of the SMTP transaction to the receiver */
  async function one(): Promise<number> {
    const client = smtp[sent % smtp.length];
    const message = loadMessage(`lone-${sent}-`, SMALL, SENDER, mailbox.address);
    const beganMs = Date.now();
    for (;;) {
      const outcome = await client?.send(SENDER, mailbox.address, message);
      if (outcome?.kind === 'accepted') break;
      say(`a mail was not accepted: ${JSON.stringify(outcome)}`);
      await delay(PAUSE_MS);
    }
    const times = await receiver.call('reachOn', { path: LONE_PATH, count: ++sent });
    await delay(PAUSE_MS);
    return (times.at(-1) ?? 0) - beganMs;
  }

  async function measureBeside(beside: LoneFigures['beside']): Promise<LoneFigures> {
    const ms: Record<Jit, number[]> = { on: [], off: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const jit of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
        for (const server of [postgres, enginePostgres]) await setJit(server, jit);
        say(`${beside}, jit ${jit}, round ${round + 1} of ${ROUNDS}`);
        for (let n = 0; n < Math.ceil(mails / ROUNDS); n++) ms[jit].push(await one());
      }
    return { beside, ms };
  }

  try {
    for (let n = 0; n < WARM_UP_MAILS; n++) await one();
    const quiet = await measureBeside('quiet');
    const load = startLoad({ perSecond, ledger, subscriber, api: service.of('api'), mail: service.of('mail'), ca });
    try {
      await delay(LOAD_WARM_UP_MS);
      return report([quiet, await measureBeside('load')], perSecond);
    } finally {
      await load.finish(FINISH_WITHIN_MS);
      await load.close();
    }
  } finally {
    for (const client of smtp) client.close();
  }
}

function report(figures: readonly LoneFigures[], perSecond: number): { text: string; passed: boolean } {
  const rows = figures.map(({ beside, ms }) => {
    const of: Record<Jit, Percentiles> = { on: percentiles([...ms.on]), off: percentiles([...ms.off]) };
    return { beside, mails: ms.on.length, of, ratio: of.on.p50 / of.off.p50 };
  });
  const text = textTable([
    ['a lone mail, ms from MAIL to the receiver', 'mails', 'jit on p50', 'p99', 'jit off p50', 'p99', 'on : off (p50)'],
    ...rows.map(({ beside, mails, of, ratio }) => [
      beside === 'quiet' ? 'quiet' : `beside ${perSecond} operations/s`,
      ...[mails, of.on.p50, of.on.p99, of.off.p50, of.off.p99].map(String),
      ratio.toFixed(2),
    ]),
  ]);
  return { text, passed: rows.every(({ ratio }) => ratio <= RATIO_MAX) };
}
