/**
 * Messages that an operator brings from elsewhere. They are filed like those that a client appends, so no event is recorded
 * and nobody is asked. `imported_message` names each, by a digest: an import that runs again files nothing twice, even
 * if the message was moved or deleted meanwhile.
 */
import { hash } from 'node:crypto';
import type { MailAccount } from '@agent-mailbox/mail-store';
import type { Database, Sql } from '#db/database.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';
import { appendMessages, type PreparedAppend, prepareAppends } from './append.ts';
import { messageIdRef } from './threads.ts';

export interface ImportedMessage {
  readonly bytes: Buffer;
  /** Bits of `domain/mail/mail-flags.ts`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly internalDate: Date;
  readonly internalOffsetMinutes: number;
  readonly receivedAt: Date;
  readonly envelopeFrom: string | null;
  readonly deliveredTo: string | null;
  /** Messages with the same one belong to one thread, and no other does; null: threads as of delivered mail. */
  readonly thread: string | null;
  /** By which it is recognized: it is filed if none of them is known. */
  readonly digests: readonly Buffer[];
}

export interface Filed {
  readonly count: number;
  readonly bytes: number;
}

const DIGEST_BYTES = 16;

/** @param parts what is recognized, such as folder, date and content */
export const importDigest = (...parts: readonly (string | number)[]): Buffer =>
  hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, DIGEST_BYTES);

/** @returns those of the digests that were imported, in hexadecimal */
export async function knownImports(sql: Sql, mailboxId: string, digests: readonly Buffer[]): Promise<Set<string>> {
  const rows = await sql.query<{ digest: Buffer }>(KNOWN, [mailboxId, digests]);
  return new Set(rows.map(({ digest }) => digest.toString('hex')));
}

/**
 * All or none. Call it outside of transactions.
 *
 * @returns what was filed; the others had been imported before
 * @throws {StoreRefused} over-quota, limit (keywords), no-folder
 */
export async function importMessages(
  db: Database,
  notifier: Pick<MailNotifier, 'changed'>,
  account: MailAccount,
  folderId: number,
  messages: readonly ImportedMessage[],
): Promise<Filed> {
  const appends = messages.map(({ bytes, flags, keywords, internalDate, internalOffsetMinutes }) => ({
    content: { size: bytes.length, bytes: async () => bytes, discard: async () => {} },
    ...{ flags, keywords, internalDate, internalOffsetMinutes },
  }));
  const read = await prepareAppends(db, account, appends, new Date());
  const prepared = messages.map((message, i) => ({ message, prepared: asImported(read[i], message) }));
  const filed = await db.transaction(async (sql) => {
    const locked = await lockFolders(sql, account.mailboxId, [folderId]);
    // Under the lock: another import of the mailbox may run.
    const known = await knownImports(
      sql,
      account.mailboxId,
      messages.flatMap(({ digests }) => digests),
    );
    const fresh = prepared.filter(({ message: { digests } }) => {
      const isFresh = !digests.some((digest) => known.has(digest.toString('hex')));
      for (const digest of digests) known.add(digest.toString('hex'));
      return isFresh;
    });
    if (fresh.length > 0)
      await appendMessages(
        sql,
        locked,
        folderId,
        fresh.map((each) => each.prepared),
      );
    await sql.query(REMEMBER, [account.mailboxId, messages.flatMap(({ digests }) => digests)]);
    return { count: fresh.length, bytes: fresh.reduce((sum, { message }) => sum + message.bytes.length, 0) };
  });
  if (filed.count > 0) notifier.changed([folderId]);
  return filed;
}

function asImported(prepared: PreparedAppend | undefined, message: ImportedMessage): PreparedAppend {
  if (prepared === undefined) throw new Error('a message was not prepared');
  const { receivedAt, envelopeFrom, deliveredTo, thread } = message;
  const { refs } = prepared.message;
  const ref = thread === null ? undefined : messageIdRef(`imported thread ${thread}`);
  return {
    ...prepared,
    envelope: { from: envelopeFrom, to: deliveredTo },
    message: {
      ...prepared.message,
      receivedAt,
      refs: ref === undefined ? refs : { ...refs, lookFor: [ref], lookForSubject: undefined, ids: [ref, ...refs.ids] },
    },
  };
}

const KNOWN = `select digest from imported_message where mailbox_id = $1 and digest = any($2::bytea[])`;
const REMEMBER = `
  insert into imported_message (mailbox_id, digest) select distinct $1, digest from unnest($2::bytea[]) as digest
  on conflict do nothing`;
