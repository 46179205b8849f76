/** The environment of the mail benchmarks: PostgreSQL with fsync, mail processes, mailboxes. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Child, startChild } from '#bench/child-calls.ts';
import { textTable } from '#bench/measure.ts';
import { cpuSeconds, machineCpuSeconds } from '#bench/processes.ts';
import { ownTimes } from '#bench/profile-calls.ts';
import { FREE_LISTENER_PORTS, insertMailbox } from '#bench/subscribers.ts';
import { newId } from '#core/platform/new-id.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import type { BareTlsCalls } from './bare-tls.ts';
import { ImapClient } from './imap-client.ts';
import type { ListenerCalls } from './listeners.ts';

const DOMAIN = 'agents.test';

export interface Account {
  readonly address: string;
  readonly token: string;
}

export interface MailProcess {
  readonly child: Child<ListenerCalls>;
  readonly smtp: ListenerAddress;
  readonly imap: ListenerAddress;
  readonly pop3: ListenerAddress;
}

export interface CpuSeconds {
  readonly mail: number;
  readonly postgres: number;
  /** The benchmark itself with its clients. */
  readonly client: number;
}

export interface MailBenchWorld {
  readonly db: Database;
  /** The mail process under measurement. */
  readonly mail: MailProcess;
  /** Removed at the end. */
  readonly folder: string;
  /** Root certificate of the mail processes. */
  readonly caFile: string;
  say(text: string): void;
  makeMailbox(localPart: string): Promise<Account>;
  /** Appends messages by IMAP. */
  fill(account: Account, count: number, message: (number: number) => Buffer, perCommand: number): Promise<number>;
  /** Waits for the search text of every message, and brings the planner's statistics up to date as autovacuum would. */
  settle(): Promise<void>;
  /** Restarts PostgreSQL and the mail process: their caches are empty, those of the operating system are not. */
  restart(): Promise<void>;
  /** One more mail process on the same database. */
  startMail(): Promise<MailProcess>;
  startBareTls(): Promise<Child<BareTlsCalls>>;
  /** Profiles the mail process while the work runs, if that was asked for. */
  watch<Result>(work: () => Promise<Result>): Promise<Result>;
  /** CPU seconds that each process used while the work ran. */
  cpuOf<Result>(work: () => Promise<Result>): Promise<{ result: Result; cpu: CpuSeconds }>;
  /** Share of the machine that others took while the work ran. */
  othersRatio<Result>(work: () => Promise<Result>): Promise<{ result: Result; ratio: number }>;
  close(): Promise<void>;
}

/** @param profileFile the last profile is written there, and a summary is printed */
export async function openMailBenchWorld(
  say: (text: string) => void,
  profileFile: string | undefined,
): Promise<MailBenchWorld> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'agent-mailbox-imap-'));
  const pepperText = randomBytes(32).toString('base64');
  const secretsKey = `bench:${randomBytes(32).toString('base64')}`;
  const tls = developmentCertificates(path.join(folder, 'tls'), []);
  const startPostgres = (port: number) => startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port });
  let postgres = await startPostgres(0);
  let db = await openDatabase({ url: postgres.url, poolMax: 4 });
  const children = new Set<Child<ListenerCalls> | Child<BareTlsCalls>>();
  /** CPU time of processes that were ended for good. */
  let endedSeconds = 0;

  const childEnvironment = () => ({
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    ...FREE_LISTENER_PORTS,
    MAIL_DOMAIN: DOMAIN,
    TLS_CERT: tls.certFile,
    TLS_KEY: tls.keyFile,
    SECRETS_KEYS: secretsKey,
    CREDENTIAL_PEPPER: pepperText,
  });
  const started = <Served extends Child<ListenerCalls> | Child<BareTlsCalls>>(child: Served): Served => {
    children.add(child);
    const stop = child.stop;
    return Object.assign(child, {
      async stop() {
        endedSeconds += cpuSeconds(child.pid);
        children.delete(child);
        await stop();
      },
    });
  };
  async function startMail(): Promise<MailProcess> {
    const child = started(
      await startChild<ListenerCalls>(new URL('listeners.ts', import.meta.url), childEnvironment()),
    );
    return { child, ...(await child.call('listeners', undefined)) };
  }
  const ownSeconds = () => {
    const { user, system } = process.cpuUsage();
    const running = [...children].reduce((sum, { pid }) => sum + cpuSeconds(pid), cpuSeconds(postgres.pid()));
    return (user + system) / 1e6 + running + endedSeconds;
  };

  await migrate(db);
  const organizationId = newId('organization');
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Load', 'load', 'unlimited')`, [
    organizationId,
  ]);
  let mail = await startMail();

  return {
    get db() {
      return db;
    },
    get mail() {
      return mail;
    },
    folder,
    caFile: tls.caFile,
    say,
    async makeMailbox(localPart) {
      const token = newCredential('mailboxToken');
      const hash = hashCredential(token, Buffer.from(pepperText, 'base64'));
      return { address: await insertMailbox(db, organizationId, localPart, DOMAIN, hash), token };
    },
    async fill(account, count, message, perCommand) {
      const client = await ImapClient.loggedIn(mail.imap, account);
      let bytes = 0;
      for (let at = 0; at < count; at += perCommand) {
        const literals = Array.from({ length: Math.min(perCommand, count - at) }, (_, i) => message(at + i));
        bytes += literals.reduce((sum, { length }) => sum + length, 0);
        await client.command('APPEND INBOX', { literals });
      }
      client.close();
      return bytes;
    },
    async settle() {
      for (let missing = 1; missing > 0; await delay(100)) {
        const [row] = await db.query<{ missing: number }>(
          `select count(*)::int as missing from message m
            where not exists (select from message_text t where t.message_id = m.id)`,
          [],
        );
        missing = row?.missing ?? 0;
      }
      await db.query('vacuum analyze', []);
    },
    async restart() {
      await mail.child.stop();
      await db.close();
      endedSeconds += cpuSeconds(postgres.pid());
      await postgres.stop();
      postgres = await startPostgres(postgres.port);
      db = await openDatabase({ url: postgres.url, poolMax: 4 });
      mail = await startMail();
    },
    startMail,
    async startBareTls() {
      return started(await startChild<BareTlsCalls>(new URL('bare-tls.ts', import.meta.url), childEnvironment()));
    },
    async watch(work) {
      if (profileFile === undefined) return work();
      await mail.child.call('startProfile', undefined);
      const result = await work();
      const profile = await mail.child.call('endProfile', undefined);
      if (profile !== undefined) {
        writeFileSync(profileFile, JSON.stringify(profile));
        say(textTable(ownTimes(profile)));
      }
      return result;
    },
    async cpuOf(work) {
      const used = () => {
        const { user, system } = process.cpuUsage();
        return [cpuSeconds(mail.child.pid), cpuSeconds(postgres.pid()), (user + system) / 1e6];
      };
      const before = used();
      const result = await work();
      const [inMail = 0, inPostgres = 0, inClient = 0] = used().map((seconds, i) => seconds - (before[i] ?? 0));
      return { result, cpu: { mail: inMail, postgres: inPostgres, client: inClient } };
    },
    async othersRatio(work) {
      const [startedAt, own, machine] = [performance.now(), ownSeconds(), machineCpuSeconds()];
      const result = await work();
      const seconds = (performance.now() - startedAt) / 1_000;
      const others = machineCpuSeconds() - machine - (ownSeconds() - own);
      return { result, ratio: Math.max(0, others / (seconds * os.availableParallelism())) };
    },
    async close() {
      for (const child of children) await child.stop();
      await db.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
