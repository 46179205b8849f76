/** Two of each process of the service, started and configured as an operator does: by the environment alone. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import type { CertificateFiles } from '#dev/certificates.ts';
import { serverPort } from './server-ports.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { type Supervised, startSupervised } from './supervised.ts';

const HOST = '127.0.0.1';
const COPIES = [1, 2] as const;
const READY_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 2_000;
const MAIL_DISK_MEGABYTES = 32;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START = path.join(ROOT, 'dev/start.mjs');

export const MAIL_DOMAIN = 'agents.test';
/** Waits of the retry ladder: short, so that a delivery that is wrongly exhausted shows within the run. */
const WEBHOOK_RETRY_DELAYS_MS = '2000,5000,15000,40000';
const OUTBOUND_RETRY_DELAYS_MS = '2000,5000,15000,40000';

export type ProcessKind = 'api' | 'worker' | 'mail';

export interface ServiceProcess extends Supervised {
  readonly kind: ProcessKind;
  /** `http://host:port` of `/healthz`, `/readyz` and `/metrics`. */
  readonly healthUrl: string;
  /** Its settings that name a port. */
  readonly ports: Readonly<Record<string, number>>;
}

export interface ServiceProcesses {
  readonly all: readonly ServiceProcess[];
  of(kind: ProcessKind): readonly ServiceProcess[];
  /** The file systems that hold the spools of the mail processes. */
  readonly mailDisks: readonly SmallDisk[];
  /** What all processes have in common, e.g. for a connection of the benchmark itself. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface ServiceSurroundings {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly relayUrl: string;
  readonly dnsServer: string;
  readonly tls: CertificateFiles;
}

const PORT_NAMES = Object.keys(SETTINGS).filter((name) => name.endsWith('_PORT') && !name.startsWith('MAIL_PUBLIC_'));

function commonEnvironment(around: ServiceSurroundings): Record<string, string> {
  return {
    LOG_LEVEL: 'info',
    DATABASE_URL: around.databaseUrl,
    DATABASE_POOL_MAX: '10',
    TEMPORAL_ADDRESS: around.temporalAddress,
    TEMPORAL_NAMESPACE: around.temporalNamespace,
    SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
    MAIL_DOMAIN,
    MAIL_HOSTNAME: 'localhost',
    TLS_CERT: around.tls.certFile,
    TLS_KEY: around.tls.keyFile,
    DNS_SERVERS: around.dnsServer,
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: around.relayUrl,
    OUTBOUND_RETRY_DELAYS_MS,
    WEBHOOK_RETRY_DELAYS_MS,
    WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128',
    WEBHOOK_EXTRA_CA: around.tls.caFile,
  };
}

/** As an operator does before the first start and after an upgrade. */
async function migrate(environment: NodeJS.ProcessEnv, folder: string): Promise<void> {
  const env = { ...process.env, ...environment, DATA_DIR: folder };
  await promisify(execFile)(process.execPath, [START, 'dev/migrate.ts'], { cwd: ROOT, env });
}

export async function startServiceProcesses(around: ServiceSurroundings): Promise<ServiceProcesses> {
  const environment = commonEnvironment(around);
  await migrate(environment, path.join(around.folder, 'migrate'));
  const mailDisks: SmallDisk[] = [];

  async function start(kind: ProcessKind, copy: number): Promise<ServiceProcess> {
    const name = `${kind}-${copy}`;
    const folder = path.join(around.folder, name);
    mkdirSync(folder, { recursive: true });
    const dataFolder = path.join(folder, 'data');
    if (kind === 'mail') mailDisks.push(mountSmallDisk(dataFolder, MAIL_DISK_MEGABYTES));
    const ports: Record<string, number> = {};
    for (const port of PORT_NAMES) ports[port] = await serverPort();
    const healthUrl = `http://${HOST}:${ports['METRICS_PORT']}`;
    const numbers = Object.fromEntries(Object.entries(ports).map(([port, number]) => [port, String(number)]));
    const supervised = await startSupervised({
      name,
      command: process.execPath,
      args: [START, `${kind}/main.ts`],
      cwd: ROOT,
      env: { ...process.env, ...environment, ...numbers, DATA_DIR: dataFolder },
      logFile: path.join(folder, 'log'),
      readyWithinMs: READY_WITHIN_MS,
      isReady: async () => (await fetch(`${healthUrl}/healthz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })).ok,
    });
    return { ...supervised, kind, healthUrl, ports };
  }

  const all: ServiceProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const disk of mailDisks) disk.free();
    await Promise.all(all.map((each) => each.stop()));
    for (const disk of mailDisks) disk.unmount();
  };
  try {
    for (const kind of ['worker', 'api', 'mail'] as const)
      all.push(...(await Promise.all(COPIES.map((copy) => start(kind, copy)))));
  } catch (error) {
    await stop();
    throw error;
  }
  return { all, of: (kind) => all.filter((each) => each.kind === kind), mailDisks, environment, stop };
}
