/**
 * The environment of mail tests: an organization with mailboxes, the inbound listener on a free port, a client for it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { createMailFolders } from '#db/queries/mailboxes/mail-folders.ts';
import type { MailboxStatus } from '#domain/organizations/mailboxes.ts';
import type { DnsLookup } from '#mail/smtp/dns-resolver.ts';
import { type MailListeners, type MailOptions, startMail } from '#mail/start.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { openTestServices } from './services.ts';
import { SmtpClient } from './smtp-client.ts';

export interface TestMailbox {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

interface MailboxOptions {
  readonly quotaBytes?: number;
  readonly status?: MailboxStatus;
}

export interface MailWorld {
  readonly services: Services;
  readonly mail: MailListeners;
  readonly organizationId: string;
  createMailbox(localPart: string, options?: MailboxOptions): Promise<TestMailbox>;
  connect(): Promise<SmtpClient>;
  /** Sends one message on a connection of its own; the reply of DATA, or of what was refused before. */
  send(to: string | readonly string[], message: string | Buffer, from?: string): Promise<string>;
  /** The rules of the store that do not hold, in words; empty is well. */
  faults(): Promise<string[]>;
  close(): Promise<void>;
}

const QUOTA_BYTES = 1_073_741_824;

/** TXT records by name; everything else does not exist. */
export const dnsStub =
  (records: Readonly<Record<string, string>> = {}): DnsLookup =>
  async (name, type) => {
    const value = type === 'TXT' ? records[name.toLowerCase()] : undefined;
    if (value !== undefined) return [[value]];
    throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' });
  };

/** A mailbox with its folders, without the way through the API. */
export async function insertMailbox(
  services: Services,
  organizationId: string,
  localPart: string,
  { quotaBytes = QUOTA_BYTES, status = 'active' }: MailboxOptions = {},
): Promise<TestMailbox> {
  const [id, token, address] = [newId('mailbox'), newCredential('mailboxToken'), `${localPart}@agents.test`];
  await services.db.transaction(async (sql) => {
    await sql.query(
      `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
       values ($1, $2, $3, 'agents.test', $4, $3, $5, 'synced', $6)`,
      [id, organizationId, localPart, address, status, hashCredential(token, services.pepper)],
    );
    await createMailFolders(sql, id, quotaBytes);
  });
  return { id, address, token };
}

export async function openMailWorld(
  options: MailOptions & { settings?: Readonly<Record<string, string>> } = {},
): Promise<MailWorld> {
  const { settings, ...mailOptions } = options;
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'mail-test-'));
  const services = await openTestServices({ DATA_DIR: dataFolder, ...settings });
  const organizationId = newId('organization');
  await services.db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Acme', $2, 'unlimited')`, [
    organizationId,
    `acme-${randomBytes(4).toString('hex')}`,
  ]);
  const mail = await startMail(services, { lookup: dnsStub(), ...mailOptions });
  const world: MailWorld = {
    services,
    mail,
    organizationId,
    createMailbox: (localPart, mailboxOptions) => insertMailbox(services, organizationId, localPart, mailboxOptions),
    connect: () => SmtpClient.open(mail.smtp.host, mail.smtp.port),
    async send(to, message, from = 'bob@example.com') {
      const client = await world.connect();
      try {
        return await client.send(from, typeof to === 'string' ? [to] : to, message);
      } finally {
        client.close();
      }
    },
    async faults() {
      const results = await checkMailStore(services.db, { all: true });
      return results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`));
    },
    async close() {
      await mail.close();
      await services.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
  return world;
}

let messageNumber = 0;

/** A small message with a Message-ID of its own. */
export const letter = (subject = 'Hello', header = '', body = 'Some words.\n'): string =>
  `From: Bob Builder <bob@example.com>\nTo: agent@agents.test\nSubject: ${subject}\nMessage-ID: <${++messageNumber}.${randomBytes(6).toString('hex')}@example.com>\n${header}\n${body}`;
