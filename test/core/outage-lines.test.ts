/**
 * The log of the real processes while PostgreSQL and Temporal are unreachable: a few lines each, whatever else happens.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { createTestDatabase, type TestDatabase, testTemporalAddress, testVariables } from '#test/support/services.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const REQUESTS = 60;
const folder = mkdtempSync(path.join(tmpdir(), 'outage-lines-'));
const parts: PartProcess[] = [];
let database: TestDatabase;
let [postgres, temporal]: TcpProxy[] = [];
let [apiPort, smtpPort] = [0, 0];

before(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  postgres = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  const [host = '', port] = testTemporalAddress().split(':');
  temporal = await tcpProxy({ host, port: Number(port) });
  url.host = `127.0.0.1:${postgres.port}`;
  [apiPort, smtpPort] = [await testPort(), await testPort()];
  const common = testVariables({
    DATABASE_URL: url.href,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    DATA_DIR: folder,
    LOG_LEVEL: 'info',
    API_PORT: String(apiPort),
    SMTP_PORT: String(smtpPort),
  });
  for (const part of ['api', 'worker', 'mail'] as const)
    parts.push(startPart(part, { ...common, METRICS_PORT: String(await testPort()) }));
  for (const part of parts)
    await waitUntil('a process to be ready', async () => (await part.readiness())?.status === 'ready', 120_000);
});
after(async () => {
  await Promise.all(parts.map((part) => part.stop()));
  await postgres?.close();
  await temporal?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** One mail of a client that does not give up early: its replies are looked at by nobody. */
function offerMail(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(smtpPort, '127.0.0.1', () =>
      socket.end('EHLO a.example\r\nMAIL FROM:<a@a.example>\r\nRCPT TO:<nobody@agents.test>\r\nQUIT\r\n'),
    );
    socket
      .on('error', () => resolve())
      .on('close', () => resolve())
      .resume();
  });
}

test('an outage of both is two lines for each in every process, with reason and duration', async () => {
  try {
    await outage();
  } catch (error) {
    throw new Error(parts.map((part) => part.output()).join('\n\n'), { cause: error });
  } finally {
    // Processes end sooner with what they need.
    postgres?.restore();
    temporal?.restore();
  }
});

async function outage(): Promise<void> {
  const before = parts.map((part) => part.lines().length);
  postgres?.cut();
  temporal?.cut();
  const key = newCredential('apiKey');
  const ask = () =>
    fetch(`http://127.0.0.1:${apiPort}/api/organization`, { headers: { 'x-organization-key': key } }).catch(() => {});
  await Promise.all(Array.from({ length: REQUESTS }, () => Promise.all([ask(), offerMail()])));
  const linesOf = (part: PartProcess, dependency: string, ending: string) =>
    part
      .lines()
      .slice(before[parts.indexOf(part)])
      .filter(({ msg }) => msg === `${dependency} is ${ending}`);
  for (const part of parts)
    for (const dependency of ['PostgreSQL', 'Temporal'])
      await waitUntil(`${dependency} to be away`, () => linesOf(part, dependency, 'away').length === 1, 40_000);
  postgres?.restore();
  temporal?.restore();
  for (const part of parts)
    for (const dependency of ['PostgreSQL', 'Temporal'])
      await waitUntil(`${dependency} to be back`, () => linesOf(part, dependency, 'back').length === 1, 60_000);
  for (const [i, part] of parts.entries()) {
    const lines = part.lines().slice(before[i]);
    const severe = lines.filter(({ level }) => level >= 40);
    // The two outages, and a few of the delivery path and of the SDK, whose reconnections it reports itself.
    assert.ok(severe.length <= 8, severe.map((line) => JSON.stringify(line)).join('\n'));
    for (const { reason } of lines.filter(({ msg }) => msg.endsWith('is away'))) assert.match(reason ?? '', /\S/);
    assert.equal(part.process.exitCode, null, part.output());
  }
  const [api] = parts;
  assert.ok(Number(api && linesOf(api, 'PostgreSQL', 'back')[0]?.failures) >= REQUESTS);
}
