import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { isAlive } from '#dev/launcher/instance-lock.ts';
import { LISTENER_SECURITY, type ListenerName } from '#dev/launcher/service-file.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { freePorts, runStart, type StartedService, startService } from '#test/support/started-service.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'agent mailbox start '));
const dataDir = path.join(folder, 'data');
const cache = path.join(folder, 'cache');
let environment: Record<string, string> = {};
let service: StartedService;

/** Process ids of the servers that belong to the folder. */
function serverPids(): number[] {
  const pid = (file: string) => (existsSync(file) ? [Number(readFileSync(file, 'utf8').split('\n')[0])] : []);
  return [
    ...pid(path.join(dataDir, 'postgres/data/postmaster.pid')),
    ...pid(path.join(dataDir, 'temporal/temporal.pid')),
  ];
}

/** When each compiled module was written, in milliseconds. */
function compiledModules(): Map<string, number> {
  const kept = path.join(cache, 'agent-mailbox', 'compiled');
  const names = readdirSync(kept, { recursive: true, encoding: 'utf8' });
  return new Map(
    names
      .map((name) => [name, statSync(path.join(kept, name))] as const)
      .filter(([, stat]) => stat.isFile())
      .map(([name, { mtimeMs }]) => [name, mtimeMs]),
  );
}

before(async () => {
  environment = {
    ...(await freePorts()),
    DATA_DIR: dataDir,
    TEMPORAL_CLI: await temporalProgram({ configured: process.env['TEMPORAL_CLI'] || undefined }),
    // Its modules are compiled into a folder of its own.
    XDG_CACHE_HOME: cache,
    NODE_COMPILE_CACHE: '',
  };
  service = await startService(environment);
});
after(async () => {
  await service.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test('service.json has the facts of a ready service, for its owner only', async () => {
  const { facts } = service;
  assert.equal(statSync(path.join(dataDir, 'service.json')).mode & 0o777, 0o600);
  assert.equal(statSync(path.join(dataDir, 'secrets.json')).mode & 0o777, 0o600);
  assert.equal((await fetch(`${facts.apiUrl}/readyz`)).status, 200);
  assert.deepEqual(facts.smtp, { host: 'localhost', port: Number(environment['SMTP_PORT']), security: 'starttls' });
  for (const [name, security] of Object.entries(LISTENER_SECURITY)) {
    const listener = facts[name as ListenerName];
    assert.ok(listener === null || (listener.security === security && listener.port > 0), name);
  }
  for (const name of ['imap', 'imapStarttls', 'pop3', 'pop3Starttls'] as const) assert.ok(facts[name], name);
  assert.equal(facts.pid, service.process.pid);
  const signIn = await fetch(`${facts.apiUrl}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: facts.email, password: facts.password }),
  });
  assert.equal(signIn.ok, true);
  assert.equal((await fetch(facts.temporalUiUrl ?? '')).status, 200);
});

test('the three commands of the screen work as printed: a mail becomes a verified webhook', async () => {
  const commands = service
    .output()
    .split('\n')
    .filter((line) => /^(cd|curl|DATA_DIR=)/.test(line));
  assert.equal(commands.length, 4);
  // The receiver's own port is the one thing that is changed, so that a receiver on this machine is not in the way.
  const port = await testPort();
  const script = commands
    .join('\n')
    .replaceAll('localhost:9443', `localhost:${port}`)
    .replace('run -s receiver', `run -s receiver -- --port ${port}`);
  const shell = spawn('bash', [], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  shell.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  shell.stdin.end(`${script}\nwait\n`);
  try {
    await waitUntil('a verified webhook', () => /verified webhook[^]*"subject": "Hello agent"/.test(output), 60_000);
  } catch (error) {
    throw new Error(`no verified webhook:\n${output}`, { cause: error });
  } finally {
    process.kill(-(shell.pid ?? 0), 'SIGTERM');
  }
  assert.match(output, /"address":"hello@agents\.localhost"/);
  assert.match(output, /Sent to hello@agents\.localhost: 250/);
});

test('a second start on the same folder is refused and names the process that runs', async () => {
  const second = runStart({ ...environment, ...(await freePorts()) });
  assert.equal(await second.ended, 1);
  assert.match(second.output(), new RegExp(`already runs on .* \\(process ${service.process.pid}\\)`));
  assert.equal((await fetch(`${service.facts.apiUrl}/readyz`)).status, 200);
});

test('taken ports are named with their settings, all at once', async () => {
  const second = runStart({ ...environment, DATA_DIR: path.join(folder, 'other') });
  assert.equal(await second.ended, 1);
  for (const name of ['API_PORT', 'SMTP_PORT', 'METRICS_PORT'])
    assert.match(second.output(), new RegExp(`${name}: port ${environment[name]} on 127\\.0\\.0\\.1 is taken`));
});

test('a crashed PostgreSQL is reported and started again', async () => {
  const [pid = 0] = serverPids();
  process.kill(pid, 'SIGKILL');
  await waitUntil('PostgreSQL to run again', () => service.output().includes('PostgreSQL is running again'), 60_000);
  assert.match(service.output(), /PostgreSQL ended unexpectedly \(signal SIGKILL\)/);
  await waitUntil('readiness', async () => (await fetch(`${service.facts.apiUrl}/readyz`)).ok, 30_000);
});

test('servers that survive a killed launcher are stopped by the next start, and the data is kept', async () => {
  const { facts } = service;
  const compiled = compiledModules();
  assert.ok(compiled.size > 500, `${compiled.size} compiled modules are kept`);
  assert.equal(await service.end('SIGKILL'), 'SIGKILL');
  const left = serverPids();
  assert.deepEqual(left.map(isAlive), [true, true]);
  service = await startService(environment);
  assert.deepEqual(left.map(isAlive), [false, false]);
  assert.match(service.output(), /an earlier start left behind/);
  const again = [...compiledModules()].filter(([name, writtenAt]) => compiled.get(name) !== writtenAt);
  assert.deepEqual(again, [], 'modules that the start after the kill compiled again');
  assert.deepEqual(
    [service.facts.apiKey, service.facts.password, service.facts.organizationId],
    [facts.apiKey, facts.password, facts.organizationId],
  );
  const answer = await fetch(`${facts.apiUrl}/api/mailboxes`, {
    headers: { 'x-organization-key': facts.apiKey ?? '' },
  });
  const { data } = (await answer.json()) as { data: { id: string; address: string }[] };
  assert.deepEqual(
    data.map(({ address }) => address),
    ['hello@agents.localhost'],
  );
  const connection = await fetch(`${facts.apiUrl}/api/mailboxes/${data[0]?.id}/connection`, {
    headers: { 'x-organization-key': facts.apiKey ?? '' },
  });
  const { imap, pop3, smtp } = (await connection.json()) as Record<string, { host: string } | undefined>;
  const { imap: imapHere, pop3: pop3Here, submission } = service.facts;
  const hosts = [imap, pop3, smtp, imapHere, pop3Here, submission].map((listener) => listener?.host);
  // Some mail clients compare names only, and the certificate has this one.
  assert.deepEqual(new Set(hosts), new Set(['localhost']));
  assert.match(service.output(), /IMAP localhost:\d+ \(TLS\)/);
});

test('Ctrl-C, which npm hands on a second time, stops everything in good order', async () => {
  const servers = serverPids();
  assert.equal(servers.length, 2);
  service.process.kill('SIGINT');
  assert.equal(await service.end('SIGINT'), 0);
  assert.deepEqual(servers.map(isAlive), [false, false]);
  for (const name of ['service.json', 'start.lock']) assert.equal(existsSync(path.join(dataDir, name)), false, name);
  const { stdout } = await promisify(execFile)('ps', ['-e', '-o', 'args']);
  assert.equal(stdout.includes(folder), false);
});

test('a start that is interrupted while the database is created does not block the next', async () => {
  const fresh = path.join(folder, 'fresh');
  const settings = { ...environment, DATA_DIR: fresh };
  const broken = runStart(settings);
  const postgres = path.join(fresh, 'postgres');
  await waitUntil(
    'initdb to begin',
    () => existsSync(postgres) && readdirSync(postgres).some((name) => name.startsWith('data.new-')),
    30_000,
  );
  broken.process.kill('SIGKILL');
  await broken.ended;
  service = await startService(settings);
  assert.deepEqual(
    readdirSync(postgres).filter((name) => name.startsWith('data')),
    ['data'],
  );
  assert.equal(await service.end('SIGTERM'), 0);
});

test('a wrong setting stops the start before anything is made', async () => {
  const untouched = path.join(folder, 'untouched');
  const wrong = runStart({ ...environment, DATA_DIR: untouched, API_PORT: 'http', LOG_LEVEL: 'loud' });
  assert.equal(await wrong.ended, 1);
  assert.match(wrong.output(), /API_PORT is "http", but takes a whole number from 0 to 65535/);
  assert.match(wrong.output(), /LOG_LEVEL is "loud"/);
  assert.equal(existsSync(untouched), false);
});

test('an unreachable DATABASE_URL or TEMPORAL_ADDRESS says which, where and what to do', async () => {
  const settings = { ...environment, DATA_DIR: path.join(folder, 'unreachable') };
  const nowhere = await testPort();
  const database = runStart({ ...settings, DATABASE_URL: `postgres://me:hidden@127.0.0.1:${nowhere}/x` });
  const temporal = runStart({
    ...settings,
    DATA_DIR: `${settings.DATA_DIR}2`,
    TEMPORAL_ADDRESS: `127.0.0.1:${nowhere}`,
  });
  assert.deepEqual(await Promise.all([database.ended, temporal.ended]), [1, 1]);
  assert.match(
    database.output(),
    /DATABASE_URL: postgres:\/\/me:\*\*\*@127\.0\.0\.1:\d+\/x cannot be used: .*ECONNREFUSED/,
  );
  assert.doesNotMatch(database.output(), /hidden/);
  assert.match(temporal.output(), /TEMPORAL_ADDRESS: no Temporal with namespace "default" answers at 127\.0\.0\.1/);
});
