/** SIGKILL of the mail process and of PostgreSQL while mail arrives. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { testDns } from '#test/support/dns-server.ts';
import { insertMailbox, letter } from '#test/support/mail-world.ts';
import { testLog, testVariables } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const CLIENTS = 8;
/** Messages answered with 250 between one kill and the next. */
const STRIDE = 120;
/** A client whose server is away tries again after this long. */
const TRY_AGAIN_MS = 50;
/** Every so many messages go to both mailboxes, in one transaction. */
const TO_BOTH_EVERY = 4;

/** The mail host as `npm run start:mail` runs it. */
function spawnMail(variables: Readonly<Record<string, string>>): ChildProcess {
  const file = fileURLToPath(new URL('../../mail/main.ts', import.meta.url));
  return spawn(process.execPath, [file], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function killPostgres(postgres: EmbeddedPostgres): Promise<void> {
  const killed = postgres.pid();
  process.kill(killed, 'SIGKILL');
  await waitUntil('PostgreSQL to run again', () => postgres.pid() !== killed, 60_000);
}

interface Sent {
  readonly subject: string;
  readonly text: string;
  readonly recipients: readonly string[];
}

interface Load {
  /** Messages answered with 250, by client, in the order of sending. */
  readonly accepted: readonly (readonly Sent[])[];
  /** Tries that ended without an answer to the message, and those that ended with 4xx. */
  readonly unanswered: number;
  readonly deferred: number;
  count(): number;
  /** Lets every client finish the message it is at. */
  end(): Promise<void>;
  /** Ends all clients, whatever they are at. */
  abandon(): Promise<void>;
}

/** Clients that send one message after another, each again and again until it is answered with 250, as an MTA does. */
function startLoad(port: number, addresses: readonly [string, string]): Load {
  let ending = false;
  let abandoned = false;
  const load = { accepted: Array.from({ length: CLIENTS }, (): Sent[] => []), unanswered: 0, deferred: 0 };

  async function client(accepted: Sent[], number: number): Promise<void> {
    let connection: SmtpClient | undefined;
    for (let n = 0; !ending; n++) {
      const subject = `message ${number}-${n}`;
      const recipients = n % TO_BOTH_EVERY === 0 ? addresses : [addresses[(number + n) % 2] ?? addresses[0]];
      const sent = { subject, text: letter(subject, '', `${subject}\n`.repeat(200)), recipients };
      for (let answered = false; !answered; ) {
        if (abandoned) return;
        connection ??= await SmtpClient.open('127.0.0.1', port).catch(() => undefined);
        const reply = (await connection?.send('bob@example.com', recipients, sent.text)) ?? '';
        answered = reply.startsWith('250');
        if (answered) break;
        // Anything final would be wrong: nothing about this mail is.
        assert.match(reply, /^(4|000|$)/);
        if (reply.startsWith('4')) load.deferred++;
        else if (reply !== '') load.unanswered++;
        connection?.close();
        connection = undefined;
        await delay(TRY_AGAIN_MS);
      }
      accepted.push(sent);
    }
    connection?.close();
  }

  const clients = Promise.all(load.accepted.map(client));
  clients.catch(() => {});
  return {
    ...load,
    get unanswered() {
      return load.unanswered;
    },
    get deferred() {
      return load.deferred;
    },
    count: () => load.accepted.reduce((sum, each) => sum + each.length, 0),
    async end() {
      ending = true;
      await clients;
    },
    async abandon() {
      ending = true;
      abandoned = true;
      await clients.catch(() => {});
    },
  };
}

const folder = mkdtempSync(path.join(tmpdir(), 'mail-crash-test-'));
const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
after(async () => {
  for (const close of closers.reverse()) await close();
});

interface Found {
  readonly address: string;
  readonly subject: string;
  readonly uid: number;
  readonly bytes: Buffer;
  readonly events: number;
  readonly deliveries: number;
}

/** The contents of the inboxes, with the number of events and deliveries of each message. */
const readStore = async (services: Services): Promise<Found[]> =>
  services.db.query<{
    address: string;
    subject: string;
    uid: number;
    bytes: Buffer;
    events: number;
    deliveries: number;
  }>(
    `with recorded as (
       select payload::jsonb #>> '{data,messageId}' as message_id, count(distinct e.id) as events, count(d.id) as deliveries
         from events e left join deliveries d on d.event_id = e.id where e.type = 'email_received' group by 1)
     select b.address, m.subject, p.uid, blob.bytes, coalesce(r.events, 0) as events, coalesce(r.deliveries, 0) as deliveries
       from placement p join message m on m.id = p.message_id join mailboxes b on b.id = m.mailbox_id
       join blob on blob.sha256 = m.blob left join recorded r on r.message_id = m.id`,
  );

test('SIGKILL of mail and of PostgreSQL under load: what was answered with 250 is there once, with one event', async () => {
  const postgres = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: await testPort() });
  closers.push(() => postgres.stop());
  const dns = await testDns();
  closers.push(() => dns.close());
  const port = await testPort();
  const variables = testVariables({
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    DNS_SERVERS: dns.address,
    SMTP_PORT: String(port),
  });
  const database = await openDatabase({ url: postgres.url, poolMax: 1 });
  await migrate(database);
  await database.close();
  const services = await openServices(readSettings(variables), testLog());
  closers.push(() => services.close());
  const rows = rowsOf(services);
  const organization = await rows.organization();
  await rows.endpoint(organization, { url: 'https://receiver.test/' });
  const [one, two] = [
    await insertMailbox(services, organization.id, 'one'),
    await insertMailbox(services, organization.id, 'two'),
  ];

  let mail = spawnMail(variables);
  closers.push(() => kill(mail));
  const restartMail = async (whenKilled?: () => Promise<unknown>) => {
    await Promise.all([kill(mail), whenKilled?.()]);
    mail = spawnMail(variables);
  };
  const load = startLoad(port, [one.address, two.address]);
  closers.push(() => load.abandon());
  const faults: readonly (() => Promise<unknown>)[] = [
    () => restartMail(),
    () => killPostgres(postgres),
    () => restartMail(() => killPostgres(postgres)),
  ];
  for (const fault of faults) {
    const before = load.count();
    await waitUntil('the load to flow', () => load.count() >= before + STRIDE, 60_000);
    await fault();
  }
  const recovered = load.count();
  await waitUntil('the load to flow after the last kill', () => load.count() >= recovered + STRIDE, 60_000);
  await load.end();
  assert.ok(load.unanswered > 0, 'mail was killed with messages in flight');
  assert.ok(load.deferred > 0, 'mail outlived PostgreSQL and asked to try again later');

  const found = new Map<string, Found[]>();
  for (const each of await readStore(services)) {
    const key = `${each.address} ${each.subject}`;
    found.set(key, [...(found.get(key) ?? []), each]);
  }
  let copies = 0;
  for (const accepted of load.accepted) {
    const lastUids = new Map<string, number>();
    for (const { subject, text, recipients } of accepted)
      for (const address of recipients) {
        const [placement, ...more] = found.get(`${address} ${subject}`) ?? [];
        assert.ok(placement, `${subject} to ${address} was answered with 250 and is lost`);
        assert.equal(more.length, 0, `${subject} to ${address} is there more than once`);
        assert.equal(placement.events, 1, `events of ${subject} to ${address}`);
        assert.equal(placement.deliveries, 1, `deliveries of ${subject} to ${address}`);
        assert.ok(placement.bytes.toString().endsWith(text.replaceAll('\n', '\r\n')), `bytes of ${subject}`);
        assert.ok(placement.uid > (lastUids.get(address) ?? 0), `the UID of ${subject} is not above those before it`);
        lastUids.set(address, placement.uid);
        copies++;
      }
  }
  assert.equal(
    [...found.values()].reduce((sum, each) => sum + each.length, 0),
    copies,
    'nothing else is there: every client went on until its message was answered',
  );
  const results = await checkMailStore(services.db, { all: true });
  assert.deepEqual(
    results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`)),
    [],
  );
});
