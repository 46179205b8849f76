/**
 * An installation is backed up while mail and webhooks flow, goes on for a while, and is lost with its machine. It is
 * restored in another folder, as docs/operations/restore.md says: with an empty Temporal, and with the one that has gone
 * on.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { createTransport } from 'nodemailer';
import { OrganizationClient } from '#client/index.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { startPeer } from '#test/support/outbound-world.ts';
import { startReceiver, verified } from '#test/support/receiver.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { freePorts, startService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { readFolders } from '#test/upgrade/read-folders.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

const MAILBOXES = 4;
/** Each mail is one webhook for each endpoint. */
const ENDPOINTS = ['/a', '/b', '/c', '/failing'] as const;
const MAILS = 300;
const MAILS_PER_SECOND = 50;
/** The backup begins after this many. */
const MAILS_BEFORE = 60;
const PATIENCE_MS = 120_000;
const RETRY_MS = 15_000;

const all = mkdtempSync(path.join(tmpdir(), 'restore-elsewhere-'));
after(() => rmSync(all, { recursive: true, force: true }));

const shown = (secret: string | null): string => secret ?? assert.fail('the answer has no secret');

/** Brings mails at a rate, several at once. @param onSent called after each */
async function load(
  { smtp }: ServiceFacts,
  addresses: readonly string[],
  onSent: (sent: number) => void,
): Promise<void> {
  const transport = createTransport({
    host: smtp?.host ?? '',
    port: smtp?.port ?? 0,
    pool: true,
    maxConnections: 8,
    maxMessages: 1_000,
    tls: { rejectUnauthorized: false },
  });
  let sent = 0;
  const sending: Promise<void>[] = [];
  for (let n = 0; n < MAILS; n++) {
    const mail = {
      from: 'ada@example.org',
      to: addresses[n % addresses.length] ?? '',
      subject: `Load ${n}`,
      text: `Mail ${n}`,
    };
    sending.push(transport.sendMail(mail).then(() => onSent(++sent)));
    await delay(1_000 / MAILS_PER_SECOND);
  }
  await Promise.all(sending);
  transport.close();
}

async function signIn({ apiUrl: url, email, password }: { apiUrl: string; email: string; password: string }) {
  const answer = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { token: session } = (await answer.json()) as { token: string };
  return new OrganizationClient({ url, session });
}

/** @throws any other error */
function isNotFound(error: unknown): false {
  if (error instanceof WorkflowNotFoundError) return false;
  throw error;
}

/** Of a message that was submitted. */
const stateOf = async (person: OrganizationClient, mailboxId: string, messageId: string) =>
  (await person.mailbox(mailboxId).listOutbox().page()).data.find(({ id }) => id === messageId)?.state;

for (const temporal of ['an empty Temporal', 'a Temporal that has newer workflows'])
  test(`an installation that was backed up under load goes on elsewhere with ${temporal}`, () =>
    loseAndRestore(temporal === 'an empty Temporal'));

async function loseAndRestore(isEmpty: boolean): Promise<void> {
  const folder = path.join(all, isEmpty ? 'empty' : 'newer');
  mkdirSync(folder);
  const tls = developmentCertificates(path.join(folder, 'receiver-tls'), ['localhost']);
  const [receiver, peer] = [await startReceiver(tls), await startPeer()];
  let failing = true;
  receiver.answer((response, { path: at }) => response.writeHead(failing && at === '/failing' ? 500 : 200).end());
  const settings = {
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: peer.url,
    OUTBOUND_RETRY_DELAYS_MS: String(RETRY_MS),
    WEBHOOK_RETRY_DELAYS_MS: Array(4).fill(RETRY_MS).join(','),
    WEBHOOK_EXTRA_CA: tls.caFile,
  };
  const [lostData, newData, backup] = ['lost', 'new', 'backup'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const lost = await startService({ ...(await freePorts()), ...settings, DATA_DIR: lostData });
  const { facts } = lost;
  const owner = { email: facts.email ?? '', password: facts.password ?? '' };
  const person = await signIn({ ...facts, ...owner });

  const mailboxes = [];
  for (let n = 0; n < MAILBOXES; n++) {
    const made = await person.mailboxes.create({ localPart: `agent${n}` });
    mailboxes.push({
      id: made.id,
      address: made.address,
      tokens: [{ access: 'full' as const, token: shown(made.token) }],
    });
  }
  const [writes, waits] = mailboxes;
  assert.ok(writes !== undefined && waits !== undefined);
  await person.lists.addOutboundAllow({ value: 'partner.example' });
  const revoked = await person.keys.create({ name: 'Revoked later', scopes: ['org:read'] });
  const kept = await person.keys.create({ name: 'Kept', scopes: ['org:read'] });
  const held = await person
    .mailbox(waits.id)
    .sendMessage({ to: ['stranger@elsewhere.example'], subject: 'Held', text: 'May I?' });
  assert.ok(held.held);
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await person
    .mailbox(waits.id)
    .sendMessage({ to: ['ann@partner.example'], subject: 'Scheduled', text: 'Later', sendAt });
  peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
  const deferred = await person
    .mailbox(writes.id)
    .sendMessage({ to: ['ben@partner.example'], subject: 'Deferred', text: 'Now' });
  const secrets = new Map<string, string>();
  for (const at of ENDPOINTS) {
    const made = await person.webhooks.create({
      url: `https://localhost:${receiver.port}${at}`,
      eventTypes: ['email_received'],
    });
    secrets.set(at, shown(made.secret));
  }
  await waitUntil('an attempt to send', async () => (await stateOf(person, writes.id, deferred.id)) === 'queued');

  // The backup is made in the middle of the load.
  const begun = Promise.withResolvers<void>();
  const loading = load(
    facts,
    mailboxes.map(({ address }) => address),
    (sent) => sent === MAILS_BEFORE && begun.resolve(),
  );
  await begun.promise;
  const made = await runAdmin(['backup', backup, '--json'], { environment: { DATA_DIR: lostData } });
  assert.equal(made.code, 0, made.stderr);
  await loading;

  // The lost installation goes on: mail, a key that is revoked, a message that is sent.
  peer.faults = [];
  const subjectsSent = () =>
    peer.received.flatMap(({ bytes }) => /^Subject: (.*)\r$/m.exec(bytes.toString())?.[1] ?? []);
  await waitUntil('the deferred mail', () => subjectsSent().includes('Deferred'), PATIENCE_MS);
  await person.keys.delete(revoked.id);
  const audit = path.join(folder, 'audit.json');
  writeFileSync(audit, JSON.stringify(await person.organization.audit({ limit: 100 }).page()));
  const before = new Map<string, Awaited<ReturnType<typeof readFolders>>>();
  for (const mailbox of mailboxes) before.set(mailbox.address, await readFolders(facts, mailbox));
  assert.equal(await lost.end('SIGTERM'), 0);
  if (!isEmpty) cpSync(path.join(lostData, 'temporal'), path.join(newData, 'temporal'), { recursive: true });
  rmSync(lostData, { recursive: true });

  const run = await runAdmin(['restore', backup, '--hold-outgoing', '--audit', audit, '--end-revoked', '--json'], {
    environment: { ...settings, DATA_DIR: newData },
  });
  assert.equal(run.code, 3, `${run.stdout}${run.stderr}`);
  const { report, secrets: keys } = JSON.parse(run.stdout) as {
    secrets: string;
    report: {
      mail: { maybeSent: number; held: number; scheduled: number; deliveries: number; stopped: boolean };
      recorded: { valid: { targetId: string }[] };
    };
  };
  assert.equal(keys, 'fit');
  assert.deepEqual(
    report.recorded.valid.map(({ targetId }) => targetId),
    [revoked.id],
  );
  const { deliveries: openDeliveries, ...mail } = report.mail;
  assert.deepEqual(
    { ...mail, mailboxes: undefined },
    { maybeSent: 1, held: 1, scheduled: 1, notices: 0, stopped: true, mailboxes: undefined },
  );
  assert.ok(openDeliveries > 0, 'no delivery was open');

  failing = false;
  const requestsBefore = receiver.requests.length;
  const service = await startService({ ...(await freePorts()), ...settings, DATA_DIR: newData });
  try {
    const now = await signIn({ ...service.facts, ...owner });
    const url = service.facts.apiUrl;
    assert.ok((await new OrganizationClient({ url, apiKey: shown(kept.key) }).organization.get()).id);
    await assert.rejects(new OrganizationClient({ url, apiKey: shown(revoked.key) }).organization.get());

    // A mail client sees other folders under the same names: no pair of UIDVALIDITY and UID is there twice.
    let restoredMails = 0;
    for (const mailbox of mailboxes) {
      const found = await readFolders(service.facts, mailbox);
      const older = before.get(mailbox.address) ?? [];
      const used = new Set(older.map(({ uidValidity }) => uidValidity));
      for (const each of found)
        assert.ok(!used.has(each.uidValidity), `${mailbox.address} ${each.path} has its old UIDVALIDITY`);
      const inbox = found.find(({ path: at }) => at === 'INBOX')?.messages ?? [];
      const known = new Set(older.flatMap(({ messages }) => messages.map(({ sha256 }) => sha256)));
      for (const { sha256 } of inbox) assert.ok(known.has(sha256));
      restoredMails += inbox.length;
    }
    assert.ok(restoredMails >= MAILS_BEFORE && restoredMails <= MAILS, `${restoredMails} mails`);

    const db = await openDatabase({ url: service.facts.databaseUrl, poolMax: 1 });
    try {
      const open = () => db.query(`select id from deliveries where status in ('pending', 'failed')`);
      await waitUntil('the open deliveries', async () => (await open()).length === 0, PATIENCE_MS);
      const ends = await db.query<{ status: string; n: number }>(
        `select status, count(*)::int as n from deliveries group by 1`,
      );
      assert.deepEqual(ends, [{ status: 'success', n: restoredMails * ENDPOINTS.length }]);
    } finally {
      await db.close();
    }
    assert.ok(receiver.requests.length - requestsBefore >= openDeliveries);
    for (const request of receiver.requests.slice(requestsBefore)) verified(request, secrets.get(request.path) ?? '');

    // What was sent since the backup is not sent again until somebody has looked.
    const isOf = (subject: string) => subjectsSent().filter((each) => each === subject).length;
    const stopped = await now.mailboxes.get(writes.id);
    assert.equal(stopped.sendingMode, 'stopped');
    assert.equal((await now.mailboxes.get(waits.id)).sendingMode, 'normal');
    await now.mailbox(writes.id).withdraw(deferred.id);
    await now.mailboxes.update(writes.id, { sendingMode: 'normal' });
    assert.equal(await stateOf(now, waits.id, scheduled.id), 'scheduled');
    await now.consents.approve(held.consentId, 'message');
    await waitUntil('the held mail', () => isOf('Held') === 1, PATIENCE_MS);
    const after = await now
      .mailbox(writes.id)
      .sendMessage({ to: ['ben@partner.example'], subject: 'After', text: 'Goes on' });
    assert.equal(after.held, false);
    await waitUntil('the new mail', () => isOf('After') === 1, PATIENCE_MS);
    assert.equal(isOf('Deferred'), 1, 'it was sent twice');
    await deliverBySmtp(service.facts, { to: writes.address, subject: 'New mail', text: 'New' });
    await waitUntil(
      'its webhooks',
      () => receiver.requests.filter(({ body }) => body.includes('New mail')).length === ENDPOINTS.length,
      PATIENCE_MS,
    );

    // Only the scheduled message still waits; what belongs to lost rows has ended.
    const { client, close } = connectTemporal(readSettings({ TEMPORAL_ADDRESS: service.facts.temporalAddress }));
    const count = async (status: string): Promise<number> =>
      (
        await client.workflow.count(
          `ExecutionStatus = '${status}' and WorkflowType != 'temporal-sys-scheduler-workflow'`,
        )
      ).count;
    const ofScheduled = client.workflow.getHandle(outboundWorkflowId(scheduled.id));
    try {
      // Started by the sweep, long before the message would be overdue.
      await waitUntil(
        'the workflow of the scheduled message',
        () => ofScheduled.describe().then(({ status }) => status.name === 'RUNNING', isNotFound),
        PATIENCE_MS,
      );
      await waitUntil('the end of all other workflows', async () => (await count('Running')) === 1, PATIENCE_MS);
      assert.equal(await count('Failed'), 0);
    } finally {
      await close();
    }

    const checked = await runAdmin(['check-mailstore', '--all'], { environment: { DATA_DIR: newData } });
    assert.equal(checked.code, 0, checked.stdout);
  } finally {
    assert.equal(await service.end('SIGTERM'), 0, service.output());
    await receiver.close();
    await peer.close();
  }
}
