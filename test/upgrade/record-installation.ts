/**
 * Records an installation of the present code, for the upgrades of later versions: `npm run record-installation -- 0.1.0`.
 *
 * Starts the real service on a folder of its own, with an HTTPS server and a mail host beside it. Makes mailboxes, mail,
 * flags, folders, credentials, endpoints, and leaves unfinished work: deliveries and a message between two attempts, a
 * held and a scheduled message, their workflows. Then it stops everything and writes the record (`record-format.ts`).
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { OrganizationClient } from '#client/index.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { freePorts, startService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { historyScheduleId } from '#worker/keep-temporal-setup.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import { openImap, readFolders } from './read-folders.ts';
import {
  migrationChecksums,
  type RecordedFolder,
  type RecordedInstallation,
  type RecordedMailbox,
  recordedSettings,
  UNFINISHED_FOR_MS,
  writeRecord,
} from './record-format.ts';
import { recordRows } from './recorded-rows.ts';

const PATIENCE_MS = 120_000;
const PARTNER = 'partner.example';
const DELIVERED = '/delivered';
const FAILING = '/failing';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A credential or secret that was just made. */
function shown(secret: string | null): string {
  if (secret === null) throw new Error('the answer has no secret');
  return secret;
}

interface World {
  readonly facts: ServiceFacts;
  readonly receiver: Receiver;
  readonly peer: Peer;
  readonly temporal: TemporalClient;
}

type Unfinished = Omit<RecordedInstallation, 'rows' | 'secrets'>;

/** Makes everything, the unfinished work last. The service must be stopped within half a minute after it. */
async function fill({ facts, receiver, peer, temporal }: World): Promise<Unfinished> {
  const { apiUrl: url, email, password, apiKey } = facts;
  if (email === null || password === null || apiKey === null)
    throw new Error('the first organization has no credentials');
  const signedIn = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { token: session } = (await signedIn.json()) as { token: string };
  const person = new OrganizationClient({ url, session });
  const organization = new OrganizationClient({ url, apiKey });

  say('mailboxes, keys, lists');
  const second = await person.keys.create({ name: 'Reads mail', scopes: ['mailbox:read', 'org:read'] });
  await person.lists.addOutboundAllow({ value: PARTNER });
  const made = [];
  for (const localPart of ['helpdesk', 'orders']) {
    const mailbox = await organization.mailboxes.create({ localPart, name: `The ${localPart}`, group: 'desk' });
    const tokens: RecordedMailbox['tokens'][number][] = [{ access: 'full', token: shown(mailbox.token) }];
    for (const access of ['read', 'send'] as const) {
      const { token } = await organization.mailboxes.createToken(mailbox.id, { name: `To ${access}`, access });
      tokens.push({ access, token: shown(token) });
    }
    made.push({ id: mailbox.id, address: mailbox.address, tokens });
  }
  const [support, orders] = made;
  if (support === undefined || orders === undefined) throw new Error('there are no mailboxes');
  const mail = organization.mailbox(support.id);

  say('mail, folders, flags');
  const delivered = await person.webhooks.create({
    url: `https://localhost:${receiver.port}${DELIVERED}`,
    eventTypes: ['email_received', 'email_sent'],
    publicKeySignature: true,
  });
  for (const [subject, to] of MAILS)
    await deliverBySmtp(facts, letterTo(subject, [support, orders][to]?.address ?? ''));
  for (const mailbox of made)
    await waitUntil(
      'the mail',
      async () => (await organization.mailbox(mailbox.id).listMessages().page()).data.length >= 3,
      PATIENCE_MS,
    );
  await arrange(facts, support);
  await mail.sendMessage({ to: [`ann@${PARTNER}`], subject: 'Sent before', text: 'This was sent.' });
  await waitUntil('the sent mail', () => peer.received.length === 1, PATIENCE_MS);
  const draft = await mail.createDraft({ to: [`ann@${PARTNER}`], subject: 'A draft', text: 'Not finished' });
  await waitUntil('the webhooks', () => receiver.requests.length >= MAILS.length + 1, PATIENCE_MS);

  say('unfinished work');
  const failing = await person.webhooks.create({
    url: `https://localhost:${receiver.port}${FAILING}`,
    eventTypes: ['email_received'],
    authHeader: { name: 'Authorization', value: 'Bearer of-the-receiver' },
  });
  const held = await mail.sendMessage({ to: ['stranger@elsewhere.example'], subject: 'Held', text: 'May I?' });
  if (!held.held) throw new Error('the mail to a stranger was not held');
  peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
  for (const subject of ['Fails one', 'Fails two']) await deliverBySmtp(facts, letterTo(subject, orders.address));
  const deferred = await mail.sendMessage({ to: [`ben@${PARTNER}`], subject: 'Deferred', text: 'Later' });
  const open = await waitUntil(
    'failed attempts',
    async () => {
      const { data } = await person.deliveries.list(failing.id);
      return data.length === 2 && data.every(({ status, workflowId }) => status === 'failed' && workflowId) && data;
    },
    PATIENCE_MS,
  );
  await waitUntil(
    'a first attempt to send',
    async () =>
      (await mail.listOutbox().page()).data.some(({ id, status }) => id === deferred.id && status === 'queued'),
    PATIENCE_MS,
  );
  const mailboxes: RecordedMailbox[] = [];
  for (const mailbox of made) {
    const folders: RecordedFolder[] = await readFolders(facts, mailbox);
    mailboxes.push({ ...mailbox, folders });
  }
  // Retention is not to delete what the record has, however old that is when it is restored.
  await temporal.client.schedule.getHandle(historyScheduleId(temporal.taskQueue)).pause('recorded');
  const scheduled = await mail.sendMessage({
    to: [`cara@${PARTNER}`],
    subject: 'Scheduled',
    text: 'At its time',
    sendAt: new Date(Date.now() + UNFINISHED_FOR_MS).toISOString(),
  });
  return {
    receiver: `localhost:${receiver.port}`,
    owner: { email, password, session },
    apiKeys: [apiKey, shown(second.key)],
    mailboxes,
    endpoints: [
      { id: delivered.id, path: DELIVERED, secret: shown(delivered.secret) },
      { id: failing.id, path: FAILING, secret: shown(failing.secret) },
    ],
    openDeliveries: open.map(({ id }) => ({ id, path: FAILING })),
    waiting: {
      held: { id: held.id, subject: 'Held' },
      scheduled: { id: scheduled.id, subject: 'Scheduled' },
      deferred: { id: deferred.id, subject: 'Deferred' },
    },
    consentId: held.consentId,
    draft: { id: draft.id, mailboxId: support.id, subject: draft.subject },
    histories: await runningHistories(temporal, 4),
  };
}

/** Subject, and which of the mailboxes. */
const MAILS: readonly (readonly [string, 0 | 1])[] = [
  ['Hello', 0],
  ['Grüße aus Köln', 0],
  ['Invoice 4711', 0],
  ['To be deleted', 0],
  ['To be moved', 0],
  ['Order 1', 1],
  ['Order 2', 1],
  ['Order 3', 1],
];

const letterTo = (subject: string, to: string) => ({
  to,
  subject,
  text: `About ${subject}.\nYour code is 482913.`,
  html: `<p>About <b>${subject}</b>. <a href="https://shop.example/confirm?t=1">Confirm</a></p>`,
  ...(subject.startsWith('Invoice')
    ? { attachments: [{ filename: 'invoice.csv', content: 'item,price\nbook,10\n' }] }
    : {}),
});

/** Folders, flags, moves, copies and gaps in the UIDs, as mail clients make them. */
async function arrange(
  facts: ServiceFacts,
  { address, tokens }: Pick<RecordedMailbox, 'address' | 'tokens'>,
): Promise<void> {
  const client = await openImap(facts, address, tokens[0]?.token ?? '');
  await client.mailboxCreate('Projects/2026');
  await client.mailboxCreate('Léger');
  const inbox = await client.getMailboxLock('INBOX');
  const uidOf = async (subject: string): Promise<string> => {
    const found = await client.search({ subject }, { uid: true });
    if (!found || found[0] === undefined) throw new Error(`there is no mail "${subject}"`);
    return String(found[0]);
  };
  try {
    await client.messageFlagsAdd(await uidOf('Hello'), ['\\Seen', '\\Answered'], { uid: true });
    await client.messageFlagsAdd(await uidOf('Invoice'), ['\\Flagged', '$Work'], { uid: true });
    await client.messageCopy(await uidOf('Invoice'), 'Projects/2026', { uid: true });
    await client.messageMove(await uidOf('moved'), 'Léger', { uid: true });
    await client.messageDelete(await uidOf('deleted'), { uid: true });
  } finally {
    inbox.release();
  }
  const old =
    'From: Bob <bob@example.com>\r\nSubject: Appended\r\nDate: Mon, 5 Jan 2015 10:00:00 +0100\r\n\r\nOld words.\r\n';
  await client.append('Projects/2026', old, ['\\Seen'], new Date('2015-01-05T09:00:00Z'));
  await client.logout();
}

async function runningHistories({ client }: TemporalClient, count: number): Promise<RecordedInstallation['histories']> {
  const running = await waitUntil(
    `${count} running workflows`,
    async () => {
      const found = [];
      // Schedules are workflows of the server.
      for await (const workflow of client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
        if (!workflow.type.startsWith('temporal-sys')) found.push(workflow);
      return found.length >= count && found;
    },
    PATIENCE_MS,
  );
  const histories: RecordedInstallation['histories'][number][] = [];
  for (const { workflowId, type } of running) {
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    histories.push({ workflowId, type, history: JSON.parse(historyToJSON(history)) });
  }
  return histories;
}

/** The rows and the state of Temporal, once the service has stopped. */
async function readStopped(dataDir: string) {
  const postgres = await startEmbeddedPostgres({ folder: path.join(dataDir, 'postgres'), port: 0 });
  const db = await openDatabase({ url: postgres.url, poolMax: 2 });
  try {
    return { rows: await recordRows(db), migrations: await migrationChecksums(db) };
  } finally {
    await db.close();
    await postgres.stop();
  }
}

/** @returns bytes of a copy without free pages */
function readTemporal(dataDir: string): Buffer {
  const copy = path.join(dataDir, 'temporal-copy.db');
  const database = new DatabaseSync(path.join(dataDir, 'temporal', 'temporal.db'), {
    // Indexes of Temporal contain such.
    enableDoubleQuotedStringLiterals: true,
  });
  database.exec(`vacuum into '${copy.replaceAll("'", "''")}'`);
  database.close();
  return readFileSync(copy);
}

function requireUnfinished({ rows, waiting, openDeliveries }: RecordedInstallation): void {
  const value = (table: string, id: string, column: string): string | null | undefined => {
    const found = rows.tables.find(({ name }) => name === table);
    const at = (name: string) => found?.columns.findIndex((each) => each.name === name) ?? -1;
    return found?.rows.find((row) => row[at('id')] === id)?.[at(column)];
  };
  for (const { id } of openDeliveries)
    if (value('deliveries', id, 'status') !== 'failed') throw new Error(`the delivery ${id} has ended: record again`);
  for (const [state, { id }] of Object.entries(waiting))
    if (value('outbound_message', id, 'finished_at') !== null)
      throw new Error(`the ${state} message has ended: record again`);
}

export async function recordInstallation(version: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'record-installation-'));
  const dataDir = path.join(folder, 'data');
  try {
    const tls = developmentCertificates(path.join(dataDir, 'tls'), ['localhost', 'agents.localhost']);
    const [receiver, peer] = [await startReceiver(tls), await startPeer()];
    receiver.answer((response, { path: at }) => void response.writeHead(at === FAILING ? 500 : 200).end());
    let unfinished: Unfinished;
    const recordedAt = new Date();
    try {
      say('the service');
      const service = await startService({ ...(await freePorts()), ...recordedSettings(peer.url), DATA_DIR: dataDir });
      const temporal = connectTemporal(readSettings({ TEMPORAL_ADDRESS: service.facts.temporalAddress }));
      try {
        unfinished = await fill({ facts: service.facts, receiver, peer, temporal });
      } finally {
        await temporal.close();
        const how = await service.end('SIGTERM');
        if (how !== 0) say(`the service ended with ${how}`);
      }
    } finally {
      await receiver.close();
      await peer.close();
    }
    say('the record');
    const { rows, migrations } = await readStopped(dataDir);
    const secrets: unknown = JSON.parse(readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'));
    const installation = { ...unfinished, rows, secrets };
    requireUnfinished(installation);
    const written = writeRecord({
      manifest: { version, recordedAt: recordedAt.toISOString(), migrations },
      installation,
      temporal: readTemporal(dataDir),
    });
    const bytes = ['manifest.json', 'installation.json.br', 'temporal.db.br'].map(
      (name) => statSync(path.join(written, name)).size,
    );
    say(`recorded ${written}: ${bytes.reduce((sum, size) => sum + size, 0)} bytes`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
