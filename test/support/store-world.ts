/** The environment of store tests: mailboxes on a separate database, without any listener. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AppendMessage, Folder, MailboxStore } from '@agent-mailbox/mail-store';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { createMailFolders } from '#db/queries/mailboxes/mail-folders.ts';
import { blobKey } from '#mailstore/blobs/blob-store.ts';
import { type MailNotifier, type NotifierOptions, openMailNotifier } from '#mailstore/changes/notifier.ts';
import type { DeliveryOutcome, IncomingMessage } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader, recipientDirectory } from '#mailstore/delivery/recipients.ts';
import { threadRefs } from '#mailstore/delivery/threads.ts';
import { receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import { type MailStore, openMailStore } from '#mailstore/mail-store.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { readMessage } from '#mime/read-message.ts';
import { openTestServices } from './services.ts';

export interface StoreMailbox {
  readonly id: string;
  readonly address: string;
  readonly store: MailboxStore;
  readonly inbox: Folder;
}

export interface StoreWorld {
  readonly services: Services;
  readonly store: MailStore;
  readonly notifier: MailNotifier;
  newMailbox(options?: { quotaBytes?: number }): Promise<StoreMailbox>;
  /** As a message that came in by SMTP. */
  deliver(mailbox: StoreMailbox, message: string, folder?: Folder): Promise<DeliveryOutcome>;
  sql<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The rules of the store that do not hold, in words; empty is well. */
  faults(): Promise<string[]>;
  close(): Promise<void>;
}

const QUOTA_BYTES = 1_073_741_824;

export async function openStoreWorld({
  settings = {},
  ...options
}: NotifierOptions & { readonly settings?: Readonly<Record<string, string>> } = {}): Promise<StoreWorld> {
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'store-test-'));
  const services = await openTestServices({ DATA_DIR: dataFolder, ...settings });
  const { db } = services;
  const organizationId = newId('organization');
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Acme', $2, 'unlimited')`, [
    organizationId,
    `acme-${randomBytes(4).toString('hex')}`,
  ]);
  const notifier = openMailNotifier(services, options);
  const store = openMailStore(services, notifier);
  const directory = recipientDirectory(db, 'agents.test', services.now);
  return {
    services,
    store,
    notifier,
    async newMailbox({ quotaBytes = QUOTA_BYTES } = {}) {
      const id = newId('mailbox');
      const localPart = randomBytes(6).toString('hex');
      const address = `${localPart}@agents.test`;
      await db.transaction(async (sql) => {
        await sql.query(
          `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
           values ($1, $2, $3, 'agents.test', $4, $3, 'active', 'synced', sha256($5::bytea))`,
          [id, organizationId, localPart, address, randomBytes(16)],
        );
        await createMailFolders(sql, id, quotaBytes);
      });
      const mailbox = store.openMailbox({ mailboxId: id, address });
      return { id, address, store: mailbox, inbox: (await mailbox.folder('INBOX')) ?? assert.fail('no INBOX') };
    },
    async deliver(mailbox, text, folder = mailbox.inbox) {
      const bytes = Buffer.from(text);
      const recipient = (await directory.find(mailbox.address)) ?? assert.fail('no such mailbox');
      const read = readMessage(bytes);
      const message: IncomingMessage = {
        bytes,
        size: bytes.length,
        blobKey: blobKey(bytes),
        read,
        refs: threadRefs(read, 'bob@example.com'),
        listed: listedHeader(bytes, read.parts),
        origin: 'smtp',
        receivedAt: new Date(),
        envelopeFrom: 'bob@example.com',
        auth: null,
      };
      return store.deliver({
        message,
        deliveries: [
          { recipient, deliveredTo: mailbox.address, folderId: folder.id, labels: [], deliveryHash: undefined },
        ],
        event: (delivery, messageId, threadId) => receivedEvent(message, delivery, messageId, threadId),
      });
    },
    sql: (text, values) => db.query(text, values),
    async faults() {
      const results = await checkMailStore(db, { all: true });
      return results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`));
    },
    async close() {
      await store.close();
      await notifier.close();
      await services.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

let number = 0;

/** A small message with a Message-ID of its own. */
export const letter = (subject = 'Hello', header = '', body = 'Some words.\r\n'): string =>
  `From: Bob Builder <bob@example.com>\r\nTo: agent@agents.test\r\nSubject: ${subject}\r\nMessage-ID: <${++number}.${randomBytes(6).toString('hex')}@example.com>\r\n${header}\r\n${body}`;

/** Bytes as an APPEND has them. */
export function spooled(text: string | Buffer, extra: Partial<Omit<AppendMessage, 'content'>> = {}): AppendMessage {
  const bytes = Buffer.from(text);
  return {
    content: { size: bytes.length, bytes: async () => bytes, discard: async () => {} },
    flags: 0,
    keywords: [],
    internalDate: null,
    ...extra,
  };
}

export async function folderNamed({ store }: StoreMailbox, name: string): Promise<Folder> {
  return (await store.folder(name)) ?? assert.fail(`no folder ${name}`);
}

/** Appends messages of these subjects; gives their UIDs. */
export async function fill(mailbox: StoreMailbox, subjects: readonly string[], folder = mailbox.inbox) {
  const { uids } = await mailbox.store.append(
    folder.id,
    subjects.map((subject) => spooled(letter(subject))),
  );
  return uids;
}
