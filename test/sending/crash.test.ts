/** SIGKILL of the worker and of the mail process while 500 messages are submitted and handed to a relay. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { OUTBOUND_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { insertMailbox, type TestMailbox } from '#test/support/mail-world.ts';
import { createTestDatabase, testLog, testTls, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const MESSAGES = 500;
const CLIENTS = 6;
/** The relay takes its time to answer DATA, so that every kill finds messages that it has and nobody has recorded. */
const RELAY_ANSWERS_AFTER_MS = 40;
/** A client whose server is away tries again after this long. */
const TRY_AGAIN_MS = 50;
const TIMEOUT_MS = 180_000;
/** Two processes are killed and come up again, on a machine that may be busy. */
const TEST_TIMEOUT_MS = 600_000;

const folder = mkdtempSync(path.join(tmpdir(), 'outbound-crash-test-'));
const closers: (() => Promise<unknown> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
after(async () => {
  for (const close of closers.reverse()) await close();
});

/** A process of the service as `npm run start:<part>` runs it. */
function spawnPart(part: 'mail' | 'worker', variables: Readonly<Record<string, string>>): ChildProcess {
  const file = fileURLToPath(new URL(`../../${part}/main.ts`, import.meta.url));
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

/** How often the relay was handed each message, by `<Message-ID> <recipient>`. */
async function startRelay(): Promise<{ url: string; counts: Map<string, number>; close(): Promise<void> }> {
  const counts = new Map<string, number>();
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const id = /^Message-ID: (\S+)/im.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '';
        for (const { address } of session.envelope.rcptTo) {
          const key = `${id} ${address}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        setTimeout(callback, RELAY_ANSWERS_AFTER_MS);
      });
    },
  });
  server.on('error', () => {}); // connections of killed processes
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    counts,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

interface Letter {
  readonly from: TestMailbox;
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  /** Times the connection ended without an answer: whether the message was taken is not known to the client. */
  unanswered: number;
}

/** Submission clients that send each message until it is answered with 250, as a mail client does. */
function startClients(port: number, senders: readonly TestMailbox[]) {
  const letters: Letter[] = [];
  const load = { accepted: 0, abandoned: false };
  const ca = readFileSync(testTls().caFile);

  async function send(letter: Letter): Promise<void> {
    const transport = createTransport({
      host: '127.0.0.1',
      port,
      secure: true,
      auth: { user: letter.from.address, pass: letter.from.token },
      tls: { ca, servername: 'localhost' },
    });
    const { from, id, to, subject } = letter;
    const mail = { from: from.address, to: [...to], subject, text: 'Some words.', messageId: id };
    while (!load.abandoned) {
      try {
        await transport.sendMail(mail);
        load.accepted++;
        return;
      } catch (error) {
        const code = Number(Reflect.get(Object(error), 'responseCode') ?? 0);
        assert.ok(code < 500, `${subject}: ${String(error)}`);
        letter.unanswered++;
        await delay(TRY_AGAIN_MS);
      }
    }
  }

  async function client(): Promise<void> {
    while (letters.length < MESSAGES && !load.abandoned) {
      const number = letters.length;
      const from = senders[number % senders.length];
      assert.ok(from);
      const to = [`ann${number}@example.com`, `ben${number}@example.net`];
      const letter = { from, id: `<${number}@crash.test>`, to, subject: `message ${number}`, unanswered: 0 };
      letters.push(letter);
      await send(letter);
    }
  }

  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  clients.catch(() => {});
  return {
    letters,
    accepted: () => load.accepted,
    ended: clients,
    async abandon() {
      load.abandoned = true;
      await clients.catch(() => {});
    },
  };
}

test('SIGKILL of worker and mail while sending: nothing is lost, and only attempts in flight are repeated', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const database = await createTestDatabase();
  closers.push(() => database.drop());
  const relay = await startRelay();
  closers.push(() => relay.close());
  const port = await testPort();
  const variables = testVariables({
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SUBMISSIONS_PORT: String(port),
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: relay.url,
    OUTBOUND_RETRY_DELAYS_MS: '100',
  });
  const services = await openServices(readSettings(variables), testLog());
  closers.push(() => services.close());
  const organization = await rowsOf(services).organization();
  await services.db.query(
    `update organizations set plan = 'unlimited', settings = '{"outboundConsent": "off"}' where id = $1`,
    [organization.id],
  );
  const senders = [
    await insertMailbox(services, organization.id, 'one'),
    await insertMailbox(services, organization.id, 'two'),
  ];
  const running = { mail: spawnPart('mail', variables), worker: spawnPart('worker', variables) };
  closers.push(() => Promise.all([kill(running.mail), kill(running.worker)]));
  const restart = async (...parts: readonly ('mail' | 'worker')[]) => {
    await Promise.all(parts.map((part) => kill(running[part])));
    for (const part of parts) running[part] = spawnPart(part, variables);
  };
  const load = startClients(port, senders);
  closers.push(() => load.abandon());
  const reached = () => relay.counts.size / 2;

  await waitUntil('the relay to get mail', () => reached() >= 100, TIMEOUT_MS);
  await restart('worker');
  const before = load.accepted();
  await waitUntil('clients to go on', () => load.accepted() >= Math.min(before + 100, MESSAGES - 50), TIMEOUT_MS);
  await restart('mail');
  await load.ended;

  // Messages committed when mail was killed have no workflow yet. The sweep of the api process, as when it is due:
  const temporal = connectTemporal(services.settings);
  closers.push(() => temporal.close());
  const later = { ...services, now: () => Date.now() + OUTBOUND_OVERDUE_MS };
  const sweep = startOutboundSweep(later, temporal);
  closers.push(() => sweep.close());
  const open = async () => {
    const [row] = await services.db.query<{ n: number }>(
      `select count(*)::int as n from outbound_message where state <> 'done'`,
    );
    return row?.n;
  };
  await waitUntil('every message to be over', async () => (await open()) === 0, TIMEOUT_MS);

  const messages = await services.db.query<{
    header: string;
    statuses: string[];
    outcomes: (string | null)[];
    events: number;
  }>(
    `select o.message_id_header as header,
            array(select r.status from outbound_recipient r where r.message_id = o.id) as statuses,
            array(select a.outcome from outbound_attempt a where a.message_id = o.id order by a.number) as outcomes,
            (select count(*)::int from events e where e.type = 'email_sent'
                and e.payload::jsonb #>> '{data,messageId}' = o.id) as events
       from outbound_message o`,
  );
  const submitted = Map.groupBy(messages, ({ header }) => header.replace(/^<?/, '<').replace(/>?$/, '>'));
  let inTheAir = 0;
  for (const { id, to, subject, unanswered } of load.letters) {
    const copies = submitted.get(id) ?? [];
    assert.ok(copies.length >= 1, `${subject} was answered with 250 and is lost`);
    assert.ok(copies.length <= 1 + unanswered, `${subject} was taken more often than it was submitted`);
    const outcomes = copies.flatMap((copy) => copy.outcomes);
    for (const copy of copies) {
      assert.deepEqual(copy.statuses, ['sent', 'sent'], subject);
      assert.equal(copy.events, 1, `email_sent of ${subject}`);
      // Only an attempt that nobody could record is made again.
      const unrecorded = copy.outcomes.length - 1;
      assert.deepEqual(copy.outcomes, [...Array.from({ length: unrecorded }, () => null), 'sent'], subject);
      inTheAir += unrecorded;
    }
    for (const address of to) {
      const count = relay.counts.get(`${id} ${address}`) ?? 0;
      assert.ok(count >= copies.length, `${subject} never reached ${address}`);
      assert.ok(count <= outcomes.length, `${subject} reached ${address} ${count} times`);
    }
  }
  assert.equal(load.letters.length, MESSAGES);
  assert.ok(inTheAir > 0, 'the worker was killed with messages in the air');
  assert.ok(
    load.letters.some(({ unanswered }) => unanswered > 0),
    'mail was killed with clients at work',
  );

  const sent = await services.db.query<{ subject: string }>(
    `select m.subject from placement p join folder f on f.id = p.folder_id join message m on m.id = p.message_id
      where f.special_use = '\\Sent' order by m.subject`,
  );
  assert.deepEqual(
    sent.map(({ subject }) => subject),
    // One whose answer got lost was submitted, and taken, once more.
    load.letters.flatMap(({ id, subject }) => (submitted.get(id) ?? []).map(() => subject)).toSorted(),
    'Sent has each message once for each time it was taken',
  );
  const results = await checkMailStore(services.db, { all: true });
  assert.deepEqual(
    results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`)),
    [],
  );
});
