/**
 * Lets the processes of a built image serve, for `.ci/image`:
 *
 *   node test/image/serve.ts <root folder of the image> <file with its configuration as JSON>
 *
 * As in docker-compose.yml: a read-only root, of which only /data and a /tmp without programs can be written, as the user
 * of the image, with the environment of the compose file. PostgreSQL has the configuration that its distribution gives it.
 * In production mode the webhook goes to the built-in receiver, which needs no exception of the destination guard; in
 * development mode to a server on this machine, over HTTPS. As root: it mounts.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { OrganizationClient } from '#client/index.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer } from '#dev/launcher/temporal-server.ts';
import { openAs, testBrowser } from '#test/support/browser.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

const [, , rootfs = '', configFile = ''] = process.argv;
const { Env, WorkingDir, User, Cmd, Healthcheck } = JSON.parse(readFileSync(configFile, 'utf8')) as {
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly User: string;
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
};
const root = fileURLToPath(new URL('../..', import.meta.url));
const NODE_USER_ID = 1_000;
const READY_WITHIN_MS = 120_000;
const WEBHOOK_WITHIN_MS = 60_000;
const POSTGRES_PROGRAMS = '/usr/lib/postgresql';
const LOOPBACK = '127.0.0.1';
const say = (text: string) => process.stdout.write(`${text}\n`);

/** Arguments: root folder, folder of /data, user, then the command. */
const IN_IMAGE = `set -e
root=$1; data=$2; user=$3; shift 3
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
for file in /etc/hosts /etc/resolv.conf; do mount --bind "$file" "$root$file"; done
mount -t tmpfs -o noexec,nosuid,nodev,size=64m tmpfs "$root/tmp"
mount -o remount,bind,ro "$root" "$root"
exec chroot --userspec="$user:$user" "$root" "$@"`;

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | string>;
  output(): string;
}

const folder = mkdtempSync('/var/tmp/image-serve-');
// The users of PostgreSQL and of the image have folders in it.
chmodSync(folder, 0o711);
const data = path.join(folder, 'data');
const toStop: (() => Promise<unknown>)[] = [];

function watched(child: ChildProcess): Running {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return { child, ended, output: () => text };
}

/** Runs a command in the image. @param settings beside the environment of the image */
function inImage(command: readonly string[], settings: Readonly<Record<string, string>> = {}): Running {
  const environment = [...Env, 'HOME=/home/node', ...Object.entries(settings).map(([key, value]) => `${key}=${value}`)];
  const program = ['/usr/bin/env', '-i', '-C', WorkingDir, ...environment, ...command];
  const given = ['--mount', '--propagation', 'private', 'sh', '-c', IN_IMAGE, 'sh', rootfs, data, User, ...program];
  return watched(spawn('unshare', given, { stdio: ['ignore', 'pipe', 'pipe'] }));
}

async function outputInImage(
  command: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { ended, output } = inImage(command, settings);
  assert.equal(await ended, 0, `${command.join(' ')}\n${output()}`);
  return output();
}

/** The environment of docker-compose.yml, with values for what it leaves open. */
function composeEnvironment(given: Readonly<Record<string, string>>): Record<string, string> {
  const block = /^x-environment:.*\n((?: {2}.*\n)+)/m.exec(
    readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'),
  )?.[1];
  const lines = [...(block ?? '').matchAll(/^ {2}([A-Z_\d]+): "?(.*?)"?$/gm)];
  assert.ok(lines.length > 20);
  // The innermost first: a default may have a variable in it.
  const variable = /\$\{(\w+)(?::([-?+])([^${}]*))?\}/g;
  const fill = (text: string): string => {
    const filled = text.replaceAll(variable, (_, name: string, sign?: string, words = '') =>
      sign === '+' ? (given[name] ? words : '') : (given[name] ?? words),
    );
    return filled === text ? text : fill(filled);
  };
  const filled = lines.map(([, name = '', text = '']) => [name, fill(text)]);
  return Object.fromEntries(filled) as Record<string, string>;
}

/** A server as its distribution configures it, JIT included. @returns its address */
async function startStockPostgres(): Promise<string> {
  const [newest] = readdirSync(POSTGRES_PROGRAMS)
    .filter((version) => existsSync(path.join(POSTGRES_PROGRAMS, version, 'bin/initdb')))
    .toSorted((one, other) => Number(other) - Number(one));
  const program = (name: string) => path.join(POSTGRES_PROGRAMS, newest ?? '', 'bin', name);
  const cluster = path.join(folder, 'postgres');
  const passwordFile = path.join(folder, 'password');
  mkdirSync(cluster);
  writeFileSync(passwordFile, 'image');
  const owner = {
    uid: Number(execFileSync('id', ['-u', 'postgres'])),
    gid: Number(execFileSync('id', ['-g', 'postgres'])),
  };
  for (const each of [cluster, passwordFile]) chownSync(each, owner.uid, owner.gid);
  const authentication = [
    '--auth',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '--encoding',
    'UTF8',
    '--locale',
    'C.UTF-8',
  ];
  execFileSync(program('initdb'), ['-D', cluster, ...authentication], {
    ...owner,
    cwd: cluster,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await testPort();
  const server = spawn(program('postgres'), ['-D', cluster, '-p', String(port), '-k', ''], {
    ...owner,
    cwd: cluster,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { ended, output } = watched(server);
  toStop.push(async () => {
    server.kill('SIGINT');
    await ended;
  });
  const url = `postgres://postgres:image@${LOOPBACK}:${port}`;
  await waitUntil('PostgreSQL', async () => {
    assert.equal(server.exitCode, null, output());
    const client = new pg.Client({ connectionString: `${url}/postgres` });
    try {
      await client.connect();
      const { rows } = await client.query<{ version: string; jit: string }>(
        `select current_setting('server_version') as version, current_setting('jit') as jit`,
      );
      say(`PostgreSQL ${rows[0]?.version}, jit ${rows[0]?.jit}`);
      await client.query('create database agent_mailbox');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  });
  return `${url}/agent_mailbox`;
}

/** An HTTPS server on this machine. @returns its address, and what was posted to it */
async function startReceiver(files: { certFile: string; keyFile: string }) {
  const bodies: string[] = [];
  const server = createServer(
    { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) },
    (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(204).end();
      });
    },
  );
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  toStop.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, bodies };
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

/** The dashboard in a browser, as somebody who signs in. @param shown what its list of mailboxes must contain */
async function openDashboard(address: string, { email, password }: Credentials, shown: string): Promise<void> {
  const browser = await testBrowser();
  try {
    const opened = await browser.open(address);
    await openAs(opened, { email, password }, '/mailboxes');
    await opened.page.getByText(shown).first().waitFor();
    opened.assertNoFaults([401]);
  } finally {
    await browser.close();
  }
}

async function readJson<Body>(url: string, init: RequestInit): Promise<Body> {
  const answer = await fetch(url, init);
  assert.ok(answer.ok, `${url}: ${answer.status}`);
  return (await answer.json()) as Body;
}

async function serveOnce(
  mode: 'production' | 'development',
  environment: Readonly<Record<string, string>>,
  credentials: Credentials,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<void> {
  const commands = [Cmd, ['node', 'worker/main.ts'], ['node', 'mail/main.ts']];
  const running: (Running & { settings: Record<string, string> })[] = [];
  for (const command of commands) {
    const settings = { ...environment, METRICS_PORT: String(await testPort()) };
    running.push({ ...inImage(command, settings), settings });
  }
  try {
    for (const { child, settings, output } of running)
      await waitUntil(
        'HEALTHCHECK',
        async () => {
          assert.equal(child.exitCode, null, output());
          const [kind, ...command] = Healthcheck.Test;
          assert.equal(kind, 'CMD');
          return (await inImage(command, settings).ended) === 0;
        },
        READY_WITHIN_MS,
      );
    const address = `http://localhost:${environment['API_PORT']}`;
    const service = new OrganizationClient({ url: address, apiKey: credentials.apiKey });
    const mailbox = await service.mailboxes.create({ localPart: `serving-${mode}` });
    const builtIn = `${address}/api/receiver`;
    const headers = { 'x-organization-key': credentials.apiKey };
    const inside =
      mode === 'production' ? await readJson<{ url: string }>(builtIn, { method: 'POST', headers }) : undefined;
    await service.webhooks.create({ url: inside?.url ?? receiver.url, eventTypes: ['email_received'] });
    const begun = performance.now();
    await deliverBySmtp(
      {
        smtp: { host: 'localhost', port: Number(environment['SMTP_PORT']), security: 'starttls' },
        caFile: path.join(data, 'tls/ca.pem'),
      },
      { to: mailbox.address, subject: `From the image, ${mode}`, text: 'Hello' },
    );
    const arrived = async () =>
      inside === undefined
        ? receiver.bodies.some((body) => body.includes(mailbox.address))
        : (await readJson<{ requests: unknown[] }>(builtIn, { headers })).requests.length > 0;
    await waitUntil('the webhook', arrived, WEBHOOK_WITHIN_MS);
    say(`${mode}: a mail became a webhook in ${Math.round(performance.now() - begun)} ms`);
    await openDashboard(address, credentials, `serving-${mode}`);
    say(`${mode}: the dashboard shows the mailbox`);
  } finally {
    for (const { child } of running) child.kill('SIGTERM');
    for (const { ended, output } of running) assert.equal(await ended, 0, output());
  }
}

async function serve(): Promise<void> {
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, NODE_USER_ID, NODE_USER_ID);
  for (const file of ['/etc/hosts', '/etc/resolv.conf']) writeFileSync(path.join(rootfs, file), '');
  assert.equal((await outputInImage(['id', '-u'])).trim(), String(NODE_USER_ID));
  assert.notEqual(await inImage(['touch', `${WorkingDir}/written`]).ended, 0, 'the root can be written');
  const program = 'cp /bin/true /tmp/program && exec /tmp/program';
  assert.notEqual(await inImage(['sh', '-c', program]).ended, 0, 'a program in /tmp can be run');

  const databaseUrl = await startStockPostgres();
  const temporal = await startTemporalServer({
    program: await temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress: say }),
    folder: path.join(folder, 'temporal'),
    port: await testPort(),
    ui: false,
    namespace: 'default',
  });
  toStop.push(temporal.stop);
  const ports: Record<string, string> = {};
  for (const name of ['API', 'SMTP', 'SUBMISSIONS', 'SUBMISSION', 'IMAPS', 'IMAP', 'POP3S', 'POP3'])
    ports[`${name}_PORT`] = String(await testPort());
  const compose = composeEnvironment({
    POSTGRES_PASSWORD: 'image',
    SECRETS_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  });
  const environment = {
    ...compose,
    ...ports,
    API_HOST: LOOPBACK,
    MAIL_HOST: LOOPBACK,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
  };
  const shown = await outputInImage(['agent-mailbox-admin', 'migrate'], environment);
  const credentials = {
    email: /sign-in {3}(\S+)/.exec(shown)?.[1] ?? '',
    password: /password {2}(\S+)/.exec(shown)?.[1] ?? '',
    apiKey: /API key {3}(\S+)/.exec(shown)?.[1] ?? '',
  };
  const receiver = await startReceiver(developmentCertificates(path.join(folder, 'tls'), []));
  await serveOnce('production', environment, credentials, receiver);
  const development = {
    ...environment,
    MODE: 'development',
    WEBHOOK_ALLOW_DESTINATIONS: `${LOOPBACK}/32,::1/128`,
    WEBHOOK_EXTRA_CA: '/data/receiver-ca.pem',
  };
  writeFileSync(path.join(data, 'receiver-ca.pem'), readFileSync(path.join(folder, 'tls/ca.pem')));
  await serveOnce('development', development, credentials, receiver);
}

try {
  await serve();
  say('the image serves');
} finally {
  for (const stop of toStop.toReversed()) await stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
