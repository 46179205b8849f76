/**
 * `npm run bench:ingest`: messages per second through the inbound SMTP listener, into 20 mailboxes and into one over kept
 * connections, and into 20 mailboxes with a connection for each message.
 *
 * 5 KB messages over 20 connections, sender authentication on, PostgreSQL with fsync; load maker, mail process and
 * PostgreSQL share the machine. CPU is processor time for each message, until its search text is stored. Afterwards the
 * invariants of the mail store are checked.
 * Options: `--messages <n>` of a run (5,000), `--repeat <n>` (3), `--connections <n>` (20), `--bytes <n>` (5,000),
 * `--only kept|one|each`, `--beside <folder>` of another checkout with the same schema, whose listener is loaded in turn,
 * `--profile <file>` for the profile of the last run's mail process.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { newId } from '#core/platform/new-id.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { developmentCertificates } from '../operations/certificates.ts';
import { type Child, startChild } from './child-calls.ts';
import type { ListenerCalls } from './ingest-listener.ts';
import { summaryOf } from './mail/scenario.ts';
import { textTable } from './measure.ts';
import { cpuSeconds } from './processes.ts';
import { ownTimes } from './profile-calls.ts';
import { smtpLoad } from './smtp-load.ts';
import { FREE_LISTENER_PORTS, insertMailbox } from './subscribers.ts';

const DOMAIN = 'ingest.test';
const LOADS = [
  { name: 'kept', text: '20 mailboxes', mailboxes: 20 },
  { name: 'one', text: '1 mailbox', mailboxes: 1 },
  { name: 'each', text: '20 mailboxes, a connection each', mailboxes: 20, messagesPerConnection: 1 },
];
/** Sent before each run and not counted: connections to the database are opened, statements planned, code compiled. */
const WARMING_UP_MESSAGES = 300;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '5000' },
    repeat: { type: 'string', default: '3' },
    connections: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '5000' },
    only: { type: 'string', multiple: true },
    beside: { type: 'string' },
    profile: { type: 'string' },
  },
});

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${text} is not a whole number from 1`);
  return number;
}
const connections = wholeNumber(values.connections);
const messages = wholeNumber(values.messages);
const messageBytes = wholeNumber(values.bytes);

async function makeMailboxes(db: Database, version: string, count: number): Promise<string[]> {
  const organizationId = newId('organization');
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Ingest', $1, 'unlimited')`, [
    organizationId,
  ]);
  const addresses: string[] = [];
  for (let i = 0; i < count; i++) {
    const localPart = `${version}-${count}-${i}-${randomBytes(3).toString('hex')}`;
    addresses.push(await insertMailbox(db, organizationId, localPart, DOMAIN, randomBytes(32)));
  }
  return addresses;
}

interface Version {
  readonly name: string;
  readonly listener: Child<ListenerCalls>;
}

/** Waits until the search text of every message is stored, so that its cost belongs to the run that caused it. */
async function settle(db: Database): Promise<void> {
  for (let missing = true; missing; await delay(100)) {
    const rows = await db.query(
      `select from (select id from message order by id desc limit $1) m
        where not exists (select from message_text t where t.message_id = m.id) limit 1`,
      [messages],
    );
    missing = rows.length > 0;
  }
}

async function run(db: Database, { name, listener }: Version, load: (typeof LOADS)[number]): Promise<string[]> {
  const recipients = await makeMailboxes(db, name, load.mailboxes);
  const used = async () => ({
    mailMs: await listener.call('cpuMs', undefined),
    postgresMs: cpuSeconds(postgres.pid()) * 1_000,
    transactions: (await db.query<{ n: number }>(TRANSACTIONS))[0]?.n ?? 0,
  });
  const smtp = await listener.call('address', undefined);
  const sent = { ...smtp, ...load, connections, recipients, messageBytes };
  await smtpLoad({ ...sent, messages: Math.min(messages, WARMING_UP_MESSAGES) });
  await settle(db);
  const before = await used();
  if (values.profile !== undefined) await listener.call('startProfile', undefined);
  const { perSecond, latenciesMs, refused } = await smtpLoad({ ...sent, messages });
  if (values.profile !== undefined) {
    const profile = await listener.call('endProfile', undefined);
    writeFileSync(values.profile, JSON.stringify(profile));
    if (profile !== undefined) console.log(textTable(ownTimes(profile)));
  }
  await settle(db);
  const after = await used();
  if (refused.size > 0) console.log(`refused: ${JSON.stringify([...refused])}`);
  const { median, p99 } = summaryOf(latenciesMs);
  const each = (key: keyof typeof before) => ((after[key] - before[key]) / messages).toFixed(2);
  return [
    load.text,
    name,
    perSecond.toFixed(0),
    median.toFixed(1),
    p99.toFixed(1),
    each('mailMs'),
    each('postgresMs'),
    each('transactions'),
  ];
}

const TRANSACTIONS = `select xact_commit as n from pg_stat_database where datname = current_database()`;
const HEAD = ['load', 'version', 'messages/s', 'p50 ms', 'p99 ms', 'CPU ms, mail', 'PostgreSQL', 'transactions'];

const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-ingest-'));
const postgres = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0 });
const db = await openDatabase({ url: postgres.url, poolMax: 4 });
try {
  await migrate(db);
  const tls = developmentCertificates(path.join(folder, 'tls'), []);
  const checkouts = { this: new URL('../', import.meta.url) };
  if (values.beside !== undefined)
    Object.assign(checkouts, { beside: pathToFileURL(`${path.resolve(values.beside)}/`) });
  const versions: Version[] = [];
  for (const [name, checkout] of Object.entries(checkouts)) {
    const listener = await startChild<ListenerCalls>(new URL('bench/ingest-listener.ts', checkout), {
      DATABASE_URL: postgres.url,
      DATA_DIR: path.join(folder, name),
      LOG_LEVEL: 'warn',
      ...FREE_LISTENER_PORTS,
      MAIL_DOMAIN: DOMAIN,
      TLS_CERT: tls.certFile,
      TLS_KEY: tls.keyFile,
      SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
    });
    versions.push({ name, listener });
  }
  for (const load of LOADS.filter(({ name }) => values.only?.includes(name) ?? true)) {
    const rows: string[][] = [HEAD];
    for (let round = 0; round < Number(values.repeat); round++)
      for (const version of versions) rows.push(await run(db, version, load));
    console.log(`${textTable(rows)}\n`);
  }
  for (const { listener } of versions) await listener.stop();
  const broken = (await checkMailStore(db)).filter(({ atFault }) => atFault > 0);
  for (const { rule, text, atFault } of broken) console.log(`✖ ${rule}  ${text}: ${atFault} at fault`);
  if (broken.length === 0) console.log('the invariants of the mail store hold');
  else process.exitCode = 1;
} finally {
  await db.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
