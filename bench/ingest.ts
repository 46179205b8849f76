/**
 * `npm run bench:ingest`: messages per second through the inbound SMTP door, into 20 mailboxes and into one.
 *
 * 5 KB messages over 20 connections, sender authentication on, PostgreSQL with fsync; load maker, mail process and
 * PostgreSQL share the machine. Afterwards the invariants of the mail store are checked.
 * Options: `--messages <n>` of a run (5,000), `--repeat <n>` (3), `--connections <n>` (20), `--bytes <n>` (5,000).
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { newId } from '../core/new-id.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { createMailFolders } from '../db/queries/mail-folders.ts';
import { developmentCertificates } from '../dev/certificates.ts';
import { startEmbeddedPostgres } from '../dev/embedded-postgres.ts';
import { checkMailStore } from '../mail/store/check.ts';
import { startChild } from './child-calls.ts';
import type { DoorCalls } from './ingest-door.ts';
import { type SmtpLoadResult, smtpLoad } from './smtp-load.ts';

const DOMAIN = 'ingest.test';
const MAILBOXES = [20, 1];
const QUOTA_BYTES = 1e12;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '5000' },
    repeat: { type: 'string', default: '3' },
    connections: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '5000' },
  },
});

async function makeMailboxes(db: Database, count: number): Promise<string[]> {
  const organizationId = newId('organization');
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Ingest', $1, 'unlimited')`, [
    organizationId,
  ]);
  const addresses: string[] = [];
  for (let i = 0; i < count; i++) {
    const [id, localPart] = [newId('mailbox'), `${count}-${i}`];
    const address = `${localPart}@${DOMAIN}`;
    await db.transaction(async (sql) => {
      await sql.query(
        `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
         values ($1, $2, $3, $4, $5, $3, 'active', 'synced', $6)`,
        [id, organizationId, localPart, DOMAIN, address, randomBytes(32)],
      );
      await createMailFolders(sql, id, QUOTA_BYTES);
    });
    addresses.push(address);
  }
  return addresses;
}

function line(mailboxes: number, { perSecond, latenciesMs, refused }: SmtpLoadResult): string {
  const at = (share: number) => (latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? Number.NaN).toFixed(1);
  const told = refused.size === 0 ? '' : `  refused: ${JSON.stringify([...refused])}`;
  return `${String(mailboxes).padStart(9)}  ${perSecond.toFixed(0).padStart(10)}  ${at(0.5).padStart(7)}  ${at(0.99).padStart(7)}${told}`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-ingest-'));
const postgres = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0 });
const db = await openDatabase({ url: postgres.url, poolMax: 4 });
try {
  await migrate(db);
  const tls = developmentCertificates(path.join(folder, 'tls'), []);
  const door = await startChild<DoorCalls>(new URL('ingest-door.ts', import.meta.url), {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    SMTP_PORT: '0',
    MAIL_DOMAIN: DOMAIN,
    TLS_CERT: tls.certFile,
    TLS_KEY: tls.keyFile,
    SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
  });
  const { host, port } = await door.call('address', undefined);
  console.log('mailboxes  messages/s   p50 ms   p99 ms');
  for (const mailboxes of MAILBOXES) {
    const recipients = await makeMailboxes(db, mailboxes);
    for (let run = 0; run < Number(values.repeat); run++) {
      const [connections, messages, messageBytes] = [values.connections, values.messages, values.bytes].map(Number);
      if (!connections || !messages || !messageBytes) throw new Error('the options take whole numbers from 1');
      console.log(line(mailboxes, await smtpLoad({ host, port, connections, messages, recipients, messageBytes })));
    }
  }
  await door.stop();
  const broken = (await checkMailStore(db)).filter(({ atFault }) => atFault > 0);
  for (const { rule, text, atFault } of broken) console.log(`✖ ${rule}  ${text}: ${atFault} at fault`);
  if (broken.length === 0) console.log('the invariants of the mail store hold');
  else process.exitCode = 1;
} finally {
  await db.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
