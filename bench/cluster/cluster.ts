/**
 * Everything of a run: two PostgreSQL servers (the service's and the engine's), Temporal on the latter, two of each
 * process of the service, the receivers, a name server, and the load.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Child, startChild } from '#bench/child-calls.ts';
import { developmentCertificates } from '#dev/certificates.ts';
import { testDns } from '#test/support/dns-server.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Load, startLoad } from './load.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';
import { type RelaySink, startRelaySink } from './relay-sink.ts';
import { serverPort } from './server-ports.ts';
import { type ServiceProcesses, startServiceProcesses } from './service-processes.ts';
import { createSubscriber, type LoadSubscriber, type WantedEndpoint } from './subscriber.ts';
import type { Supervised } from './supervised.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';
import type { WebhookReceiverCalls } from './webhook-receiver.ts';

export const SERVICE_DATABASE = 'agent_mailbox';
/** Space for the data of a run, a multiple of it for the log, and room for longer runs. */
const DISK_MEGABYTES = 4_096;

export interface Cluster {
  readonly postgres: PostgresServer;
  readonly enginePostgres: PostgresServer;
  readonly temporal: TemporalServer;
  readonly service: ServiceProcesses;
  readonly receiver: Child<WebhookReceiverCalls>;
  readonly relay: RelaySink;
  readonly subscriber: LoadSubscriber;
  readonly ledger: Ledger;
  readonly load: Load;
  /** Root certificate of the mail processes, PEM. */
  readonly ca: string;
  readonly loadBeganMs: number;
  /** All server programs under supervision, those of the engine included. */
  programs(): readonly Supervised[];
  close(): Promise<void>;
}

export interface ClusterOptions {
  /** Empty or absent; for disks, logs and spools. */
  readonly folder: string;
  /** Operations started per second. 0: none. */
  readonly perSecond: number;
  /** Default: those of the load. */
  readonly endpoints?: readonly WantedEndpoint[] | undefined;
  say(text: string): void;
}

/** The sender of the load has SPF and DMARC; nothing else has a name. */
const SENDER_RECORDS = [
  { type: 'TXT', name: 'sender.test', value: 'v=spf1 ip4:127.0.0.1 -all' },
  { type: 'TXT', name: '_dmarc.sender.test', value: 'v=DMARC1; p=reject' },
] as const;

export async function openCluster({ folder, perSecond, endpoints, say }: ClusterOptions): Promise<Cluster> {
  const toClose: (() => Promise<unknown>)[] = [];
  async function close(): Promise<void> {
    for (const each of toClose.splice(0).reverse()) await each().catch((error: Error) => say(error.message));
  }
  const inFolder = (name: string) => path.join(folder, name);
  try {
    say('PostgreSQL');
    const postgres = await startPostgresServer({
      name: 'PostgreSQL',
      folder: inFolder('postgres'),
      diskMegabytes: DISK_MEGABYTES,
    });
    toClose.push(() => postgres.stop());
    const enginePostgres = await startPostgresServer({
      name: 'PostgreSQL of the engine',
      folder: inFolder('engine-postgres'),
      diskMegabytes: DISK_MEGABYTES,
    });
    toClose.push(() => enginePostgres.stop());
    await postgres.query('postgres', `create database ${SERVICE_DATABASE}`);

    say('Temporal');
    const temporal = await startTemporalServer(enginePostgres, inFolder('temporal'), say);
    toClose.push(() => temporal.stop());
    await temporal.registerNamespace();

    const tls = developmentCertificates(inFolder('tls'), []);
    const dns = await testDns();
    toClose.push(() => dns.close());
    dns.records = SENDER_RECORDS;
    const relay = await startRelaySink(await serverPort());
    toClose.push(() => relay.close());
    const receiver = await startChild<WebhookReceiverCalls>(new URL('./webhook-receiver.ts', import.meta.url), {
      RECEIVER_CERT: tls.certFile,
      RECEIVER_KEY: tls.keyFile,
    });
    toClose.push(() => receiver.stop());

    say('two workers, two api, two mail processes');
    const service = await startServiceProcesses({
      folder,
      databaseUrl: postgres.url(SERVICE_DATABASE),
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
      relayUrl: relay.url,
      dnsServer: dns.address,
      tls,
    });
    toClose.push(() => service.stop());
    const [api] = service.of('api');
    const receiverUrl = `https://127.0.0.1:${await receiver.call('port', undefined)}`;
    const subscriber = await createSubscriber(
      service.environment,
      `http://127.0.0.1:${api?.ports['API_PORT']}`,
      receiverUrl,
      endpoints,
    );
    for (const endpoint of subscriber.endpoints) await receiver.call('expect', endpoint);

    const ledger = openLedger();
    const ca = readFileSync(tls.caFile, 'utf8');
    const loadBeganMs = Date.now();
    const load = startLoad({
      perSecond,
      ledger,
      subscriber,
      api: service.of('api'),
      mail: service.of('mail'),
      ca,
    });
    toClose.push(() => load.close());
    return {
      postgres,
      enginePostgres,
      temporal,
      service,
      receiver,
      relay,
      subscriber,
      ledger,
      load,
      ca,
      loadBeganMs,
      programs: () => [...service.all, postgres, enginePostgres, temporal.program()],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
