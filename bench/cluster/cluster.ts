/**
 * Everything of a run: two PostgreSQL servers (the service's and the engine's), Temporal on the latter, two of each
 * process of the service, configured by their environment as an operator does, the receivers, a name server, and the
 * customer: an organization with mailboxes and endpoints.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { type Child, startChild } from '#bench/child-calls.ts';
import { signalTree } from '#bench/processes.ts';
import type { SinkCalls } from '#bench/sink.ts';
import { createSubscribers } from '#bench/subscribers.ts';
import { OrganizationClient } from '#client/index.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { startWatched } from '#dev/launcher/child-process.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';
import { testDns } from '#test/support/dns-server.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { TEST_ENVIRONMENT, testVariables } from '#test/support/services.ts';
import { freePorts } from '#test/support/started-service.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import {
  mountSmallDisk,
  type PostgresServer,
  type Program,
  RESTART_DELAYS_MS,
  type SmallDisk,
  startPostgresServer,
  startTemporalServer,
  type TemporalServer,
} from './servers.ts';

export const SERVICE_DATABASE = 'agent_mailbox';
export const SENDER = 'load@sender.test';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 40_000;
const ANSWER_WITHIN_MS = 2_000;
const DEPLOY_LOOK_MS = 300;
const MAIL_DISK_MEGABYTES = 32;
const MAILBOXES = 20;
/** Waits of the retry ladders: short, so that a delivery that is wrongly exhausted shows within the run. */
const RETRY_DELAYS_MS = '2000,5000,15000,40000';
/** The sender of the load has SPF and DMARC; nothing else has a name. */
const SENDER_RECORDS = [
  { type: 'TXT', name: 'sender.test', value: 'v=spf1 ip4:127.0.0.1 -all' },
  { type: 'TXT', name: '_dmarc.sender.test', value: 'v=DMARC1; p=reject' },
] as const;

type ProcessKind = 'api' | 'worker' | 'mail';

export interface ServiceProcess extends Program {
  readonly kind: ProcessKind;
  /** `http://host:port` of `/healthz`, `/readyz` and `/metrics`. */
  readonly healthUrl: string;
  /** Of a setting that names a port. */
  port(setting: string): number;
}

export interface LoadMailbox {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

/** An endpoint at the sink, see `sink.ts` for its paths. */
export interface WantedEndpoint {
  readonly path: string;
  readonly eventTypes: readonly EventType[];
}

export interface Customer {
  readonly organizationId: string;
  readonly apiKey: string;
  readonly mailboxes: readonly LoadMailbox[];
  readonly endpoints: readonly { readonly id: string; readonly eventTypes: readonly EventType[] }[];
}

export interface Cluster {
  readonly postgres: PostgresServer;
  readonly enginePostgres: PostgresServer;
  readonly temporal: TemporalServer;
  readonly processes: readonly ServiceProcess[];
  of(kind: ProcessKind): readonly ServiceProcess[];
  /** The file systems that hold the spools of the mail processes. */
  readonly mailDisks: readonly SmallDisk[];
  readonly sink: Child<SinkCalls>;
  /** The smarthost for outgoing mail. */
  readonly relay: Peer;
  readonly customer: Customer;
  /** Root certificate of the mail processes, PEM. */
  readonly ca: string;
  /** Another version than this one, whose programs the cluster was started with. */
  readonly olderVersion: string | undefined;
  /**
   * Ends the processes of the service one after another, as a deployment does, and waits until each runs again and is
   * ready. Before that the schema is migrated by this version, which a version before it can use too.
   *
   * @param version the folder of a checkout; undefined: this one
   */
  deploy(version?: string): Promise<void>;
  /** All server programs, those of the engine included. */
  programs(): readonly Program[];
  close(): Promise<void>;
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * @param folder empty; for disks, logs and spools
 * @param olderVersion a checkout with its packages, whose programs the cluster is started with; undefined: this one
 */
export async function openCluster(
  folder: string,
  endpoints: readonly WantedEndpoint[],
  say: (text: string) => void,
  olderVersion?: string,
): Promise<Cluster> {
  const toClose: (() => Promise<unknown>)[] = [];
  const watched: Program[] = [];
  const disks: SmallDisk[] = [];
  const inFolder = (name: string) => path.join(folder, name);
  async function close(): Promise<void> {
    for (const disk of disks) disk.free();
    for (const { pid } of watched) signalTree(pid(), 'SIGCONT'); // what is paused cannot end
    for (const each of toClose.splice(0).reverse()) await each().catch((error: Error) => say(error.message));
  }
  async function startPostgres(name: string, at: string): Promise<PostgresServer> {
    const server = await startPostgresServer(name, inFolder(at));
    toClose.push(() => server.stop());
    watched.push(server);
    disks.push(server.dataDisk, server.logDisk);
    return server;
  }
  try {
    say('PostgreSQL');
    const postgres = await startPostgres('PostgreSQL', 'postgres');
    const enginePostgres = await startPostgres('PostgreSQL of the engine', 'engine-postgres');
    await postgres.query('postgres', `create database ${SERVICE_DATABASE}`);
    say('Temporal');
    const temporal = await startTemporalServer(enginePostgres, inFolder('temporal'));
    toClose.push(() => temporal.program().stop());
    await temporal.registerNamespace();

    const tls = developmentCertificates(inFolder('tls'), []);
    const dns = await testDns();
    toClose.push(() => dns.close());
    dns.records = SENDER_RECORDS;
    const relay = await startPeer();
    toClose.push(() => relay.close());
    const sink = await startChild<SinkCalls>(new URL('../sink.ts', import.meta.url), {
      SINK_CERT: tls.certFile,
      SINK_KEY: tls.keyFile,
    });
    toClose.push(() => sink.stop());

    say('two workers, two api, two mail processes');
    for (const file of ['caFile', 'certFile', 'keyFile'] as const) process.env[TEST_ENVIRONMENT[file]] = tls[file];
    process.env[TEST_ENVIRONMENT.temporal] = temporal.address;
    const environment = testVariables({
      LOG_LEVEL: 'info',
      DATABASE_URL: postgres.url(SERVICE_DATABASE),
      TEMPORAL_NAMESPACE: temporal.namespace,
      MAIL_HOSTNAME: 'localhost',
      DNS_SERVERS: dns.address,
      OUTBOUND_TRANSPORT: 'relay',
      OUTBOUND_RELAY_URL: relay.url,
      OUTBOUND_RETRY_DELAYS_MS: RETRY_DELAYS_MS,
      WEBHOOK_RETRY_DELAYS_MS: RETRY_DELAYS_MS,
    });
    const env = (own: Record<string, string>) => ({ ...process.env, ...environment, ...own });
    /** Where the programs are: whatever starts next is of the version that this link names. */
    const version = inFolder('version');
    const start = path.join(version, 'dev/start.mjs');
    function useVersion(root: string): void {
      rmSync(version, { force: true });
      symlinkSync(root, version);
    }
    const migrate = () =>
      promisify(execFile)('npm', ['run', 'migrate'], { cwd: version, env: env({ DATA_DIR: inFolder('migrate') }) });
    useVersion(olderVersion ?? ROOT);
    await migrate();
    const mailDisks: SmallDisk[] = [];
    async function startCopy(kind: ProcessKind, copy: number): Promise<ServiceProcess> {
      const name = `${kind}-${copy}`;
      mkdirSync(inFolder(name), { recursive: true });
      const [data, logFile] = [inFolder(`${name}/data`), inFolder(`${name}/server.log`)];
      if (kind === 'mail') mailDisks.push(mountSmallDisk(data, MAIL_DISK_MEGABYTES));
      const ports = await freePorts();
      const healthUrl = `http://127.0.0.1:${ports['METRICS_PORT']}`;
      const child = await startWatched({
        name,
        command: process.execPath,
        args: [start, `${kind}/main.ts`],
        cwd: version,
        env: env({ ...ports, DATA_DIR: data }),
        logFile,
        stopSignal: 'SIGTERM',
        stopWithinMs: STOP_WITHIN_MS,
        readyWithinMs: READY_WITHIN_MS,
        restartDelaysMs: RESTART_DELAYS_MS,
        isReady: () => answers(`${healthUrl}/healthz`),
      });
      toClose.push(() => child.stop());
      return { ...child, name, logFile, kind, healthUrl, port: (setting) => Number(ports[setting]) };
    }
    const processes: ServiceProcess[] = [];
    for (const kind of ['worker', 'api', 'mail'] as const)
      processes.push(...(await Promise.all([1, 2].map((copy) => startCopy(kind, copy)))));
    watched.push(...processes);
    disks.push(...mailDisks);
    const of = (kind: ProcessKind) => processes.filter((each) => each.kind === kind);

    const settings = readSettings({ ...environment, DATABASE_POOL_MAX: '2' });
    const services = await openServices(settings, createLogger('warn', pino.destination(2)));
    const [subscriber] = await createSubscribers(services, { organizations: 1, mailboxesEach: 1, urls: () => [] });
    await services.db.query(`update organizations set settings = '{"outboundConsent": "off"}'`, []);
    await services.close();
    if (subscriber === undefined) throw new Error('no organization was made');
    const { organization, apiKey } = subscriber;
    const api = new OrganizationClient({ url: `http://127.0.0.1:${of('api')[0]?.port('API_PORT')}`, apiKey });
    // Before the endpoints, so that no event of theirs is owed.
    const mailboxes: LoadMailbox[] = [];
    for (let n = 0; n < MAILBOXES; n++) {
      const { token, ...mailbox } = await api.mailboxes.create({ name: `box ${n}` });
      mailboxes.push({ ...mailbox, token: token ?? '' });
    }
    const sinkUrl = `https://127.0.0.1:${await sink.call('port', undefined)}`;
    const made: Customer['endpoints'][number][] = [];
    for (const { path: at, eventTypes } of endpoints) {
      const { id, secret } = await api.webhooks.create({ url: sinkUrl + at, eventTypes: [...eventTypes] });
      await sink.call('expect', { path: at, secret: secret ?? '' });
      made.push({ id, eventTypes });
    }
    async function deploy(root = ROOT): Promise<void> {
      if (root === ROOT) {
        useVersion(ROOT);
        await migrate();
      }
      useVersion(root);
      for (const { name, pid, healthUrl } of processes) {
        const before = pid();
        process.kill(before, 'SIGTERM');
        const deadline = Date.now() + STOP_WITHIN_MS + READY_WITHIN_MS;
        while (pid() === before || !(await answers(`${healthUrl}/readyz`))) {
          if (Date.now() > deadline) throw new Error(`${name} is not ready after its deployment`);
          await delay(DEPLOY_LOOK_MS);
        }
      }
    }
    return {
      ...{ postgres, enginePostgres, temporal, processes, of, mailDisks, sink, relay, olderVersion, deploy },
      customer: { organizationId: organization.id, apiKey, mailboxes, endpoints: made },
      ca: readFileSync(tls.caFile, 'utf8'),
      programs: () => [...processes, postgres, enginePostgres, temporal.program()],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
