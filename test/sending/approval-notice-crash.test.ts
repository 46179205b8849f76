/** SIGKILL around the notice of a held message: it is sent all the same, and twice at most. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { sweepNotices } from '#core/organizations/member-notices.ts';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { MEMBER_NOTICE_OVERDUE_MS, memberNoticeWorkflowId } from '#domain/organizations/member-notices.ts';
import { OUTBOUND_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { type OutboundSweep, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { insertMailbox } from '#test/support/mail-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { createTestDatabase, testLog, testTemporalAddress, testVariables } from '#test/support/services.ts';
import { logIn } from '#test/support/submission-client.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Processes come up again, and the engine notices the death of a worker, on a machine that may be busy. */
const PATIENCE_MS = 180_000;
const TEST_TIMEOUT_MS = 900_000;

const folder = mkdtempSync(path.join(tmpdir(), 'notice-crash-test-'));
const closers: (() => Promise<unknown> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
let services: Services;
let temporal: TemporalClient;
let proxy: TcpProxy;
let relay: Awaited<ReturnType<typeof startRelay>>;
let variables: Record<string, string>;

/** What a relay was handed, by Message-ID. While it is told to, it takes the content and answers nothing. */
async function startRelay() {
  const taken: string[] = [];
  const held: (() => void)[] = [];
  const relay = { taken, holds: false, url: '', release: () => held.splice(0).forEach((answer) => answer()), close };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData(stream, _session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        taken.push(/^Message-ID: (\S+)/im.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '');
        if (relay.holds) held.push(() => callback());
        else callback();
      });
    },
  });
  server.on('error', () => {}); // connections of killed processes
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  relay.url = `smtp://127.0.0.1:${address.port}`;
  function close(): Promise<void> {
    relay.release();
    return new Promise((resolve) => server.close(() => resolve()));
  }
  return relay;
}

before(async () => {
  const database = await createTestDatabase();
  closers.push(() => database.drop());
  relay = await startRelay();
  closers.push(() => relay.close());
  const [host = '', port = ''] = testTemporalAddress().split(':');
  proxy = await tcpProxy({ host, port: Number(port) });
  closers.push(() => proxy.close());
  variables = testVariables({
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    TEMPORAL_TASK_QUEUE: `notices-${randomBytes(6).toString('hex')}`,
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: relay.url,
    OUTBOUND_RETRY_DELAYS_MS: '100',
    API_PUBLIC_URL: 'https://mail.example',
  });
  services = await openServices(readSettings(variables), testLog());
  closers.push(() => services.close());
  temporal = connectTemporal(services.settings);
  closers.push(() => temporal.close());
});
after(async () => {
  for (const close of closers.reverse()) await close();
});

/** An organization that holds mail to strangers, with one member to notify. */
async function newSender() {
  const organization = await rowsOf(services).organization();
  const userId = newId('user');
  const email = `${userId}@people.example`;
  await services.db.query(`insert into users (id, email, name, password_hash) values ($1, $2, 'Ann', 'none')`, [
    userId,
    email,
  ]);
  await services.db.query(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'owner')`, [
    newId('member'),
    organization.id,
    userId,
  ]);
  return { organization, mailbox: await insertMailbox(services, organization.id, `agent-${userId.slice(-8)}`) };
}

async function started(part: 'mail' | 'worker', more: Record<string, string> = {}): Promise<PartProcess> {
  const environment = { ...variables, ...more, METRICS_PORT: String(await testPort()) };
  const running = startPart(part, environment);
  closers.push(() => kill(running));
  const ready = async () => (await running.readiness())?.status === 'ready';
  await waitUntil(`${part} to be ready`, ready, PATIENCE_MS);
  return running;
}

async function kill({ process: child, ended }: PartProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** The sweeps of the api processes, as they look when everything that was forgotten is overdue. */
function startSweeps(): { close(): Promise<void> } {
  const outbound: OutboundSweep = startOutboundSweep(
    { ...services, now: () => Date.now() + OUTBOUND_OVERDUE_MS },
    temporal,
  );
  const starts = engineStarts(services.log);
  const later = { ...services, now: () => Date.now() + 2 * MEMBER_NOTICE_OVERDUE_MS };
  const timer = setInterval(() => void sweepNotices(later, temporal, starts).catch(() => {}), 1_000);
  return {
    async close() {
      clearInterval(timer);
      await Promise.all([outbound.close(), starts.close()]);
    },
  };
}

interface Held {
  readonly organizationId: string;
  /** Ends the mail process when it was started. */
  readonly mail: PartProcess;
}

/** Hands a message in by SMTP, which is held. @param ports of the engine as the mail process sees it */
async function hold(more: Record<string, string> = {}): Promise<Held> {
  const { organization, mailbox } = await newSender();
  const port = await testPort();
  const mail = await started('mail', { ...more, SUBMISSION_PORT: String(port) });
  const client = await logIn({ host: '127.0.0.1', port }, mailbox);
  // From here on the process may get nothing started.
  if (more['TEMPORAL_ADDRESS'] !== undefined) proxy.freeze();
  const reply = await client.send(
    mailbox.address,
    ['stranger@outside.example'],
    `From: ${mailbox.address}\nTo: stranger@outside.example\nSubject: May I\n\nSome words.\n`,
  );
  client.close();
  assert.match(reply, /held for consent/);
  return { organizationId: organization.id, mail };
}

async function noticeOf(organizationId: string): Promise<{ id: string; state: string; attempts: number } | undefined> {
  const [notice, ...more] = await services.db.query<{ id: string; state: string; attempts: number }>(
    `select id, state, attempts from member_notices where organization_id = $1`,
    [organizationId],
  );
  assert.deepEqual(more, [], 'one notice');
  return notice;
}

/** Waits for the notice to be over. @returns how often the relay was handed it */
async function timesSent(organizationId: string): Promise<number> {
  const notice = await waitUntil(
    'the notice to be sent',
    async () => {
      const now = await noticeOf(organizationId);
      return now !== undefined && now.state !== 'waiting' && now;
    },
    PATIENCE_MS,
  );
  assert.equal(notice.state, 'sent');
  return relay.taken.filter((id) => id.includes(notice.id)).length;
}

test('SIGKILL after the hold is committed, before anything was started: the notice is sent, once', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const { organizationId, mail } = await hold({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
  await kill(mail);
  proxy.restore();
  assert.equal((await noticeOf(organizationId))?.state, 'waiting', 'it is written with the hold');
  const worker = await started('worker');
  const sweeps = startSweeps();
  try {
    assert.equal(await timesSent(organizationId), 1);
  } finally {
    await sweeps.close();
    await kill(worker);
  }
});

test('SIGKILL after the workflow of the notice was started: the notice is sent, twice at most', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const first = await started('worker');
  const { organizationId, mail } = await hold();
  const notice = await noticeOf(organizationId);
  assert.ok(notice !== undefined);
  const handle = temporal.client.workflow.getHandle(memberNoticeWorkflowId(notice.id));
  await waitUntil(
    'the workflow',
    () =>
      handle.describe().then(
        () => true,
        () => false,
      ),
    PATIENCE_MS,
  );
  await Promise.all([kill(first), kill(mail)]);
  const second = await started('worker');
  const sweeps = startSweeps();
  try {
    const times = await timesSent(organizationId);
    assert.ok(times >= 1 && times <= 2, `${times} times`);
  } finally {
    await sweeps.close();
    await kill(second);
  }
});

test('SIGKILL while the relay has the notice and has not answered: it is sent again, once', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  relay.holds = true;
  const first = await started('worker');
  const { organizationId, mail } = await hold();
  const notice = await noticeOf(organizationId);
  assert.ok(notice !== undefined);
  const isTaken = () => relay.taken.some((id) => id.includes(notice.id));
  await waitUntil('the relay to have the notice', isTaken, PATIENCE_MS);
  await Promise.all([kill(first), kill(mail)]);
  assert.equal((await noticeOf(organizationId))?.state, 'waiting', 'nobody has recorded it');
  relay.holds = false;
  relay.release();
  const second = await started('worker');
  const sweeps = startSweeps();
  try {
    assert.equal(await timesSent(organizationId), 2, 'under the same Message-ID');
  } finally {
    await sweeps.close();
    await kill(second);
  }
});
