/**
 * Recognizes what belongs together, by hashes: a redelivery of the same message, and the thread of a message.
 *
 * The thread: In-Reply-To, then References from the last; else, for a reply, the base subject with the same correspondent
 * within 30 days; else a new one. Threads are never merged; a thread id never changes. Runs under the locks of the write
 * transaction, so that no other message of the mailbox is filed meanwhile.
 */
import { createHash, hash } from 'node:crypto';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { THREAD_BY_SUBJECT_DAYS } from '#domain/mail/mail-limits.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { baseSubject } from '#mime/subject.ts';

/** RFC 5321 §4.4: fields that a relay adds on top, which therefore differ between two deliveries of one message. */
const TRACE_FIELDS = new Set(['received', 'return-path']);
const REF_HASH_BYTES = 16;

/**
 * Recognizes a message that a client sends again because it missed our 250. Undefined without a Message-ID: two such
 * messages may be equal on purpose.
 *
 * @param received bytes as the client sent them
 * @returns a function that gives the hash for one recipient address
 */
export function deliveryHasher(received: Uint8Array, sender: string): ((recipient: string) => string) | undefined {
  const bodyStart = findBodyStart(received, 0, received.length);
  const fields = headerFields(received, 0, bodyStart);
  if (!firstValue(fields, 'message-id')) return undefined;
  let content = 0;
  for (const field of fields) {
    if (!TRACE_FIELDS.has(field.name)) break;
    content = field.end;
  }
  const contentHash = hash('sha256', received.subarray(content), 'buffer');
  return (recipient) =>
    createHash('sha256')
      .update(sender.toLowerCase())
      .update('\0')
      .update(recipient.toLowerCase())
      .update('\0')
      .update(contentHash)
      .digest('hex');
}

const refHash = (kind: 'id' | 'subject', text: string): string =>
  hash('sha256', `${kind}\0${text}`).slice(0, REF_HASH_BYTES * 2);

/** By which threads know a Message-ID: `thread_ref.ref_hash`, hexadecimal. @param messageIdHeader with its brackets */
export const messageIdRef = (messageIdHeader: string): string => refHash('id', messageIdHeader);

export interface ThreadRefs {
  /** By which an existing thread is found, best first. */
  readonly lookFor: readonly string[];
  /** By subject, for replies only. */
  readonly lookForSubject: string | undefined;
  /** Message-IDs that lead to the thread from now on. */
  readonly ids: readonly string[];
  /** Subject and correspondent that lead to it. */
  readonly subject: string | undefined;
}

/** @param correspondent address of the other party: the sender of incoming mail */
export function threadRefs(message: ReadMessage, correspondent: string): ThreadRefs {
  const own = message.messageId === undefined ? [] : [messageIdRef(message.messageId)];
  const others = message.references.map(messageIdRef);
  const { base, isReply } = baseSubject(message.subject);
  const subject = base === '' ? undefined : refHash('subject', `${base}\0${correspondent.toLowerCase()}`);
  return {
    lookFor: [...own, ...others],
    lookForSubject: isReply ? subject : undefined,
    ids: [...new Set([...own, ...others])],
    subject,
  };
}

export interface ThreadSeeker {
  readonly mailboxId: string;
  readonly refs: ThreadRefs;
}

/** Row of `thread_ref` to be written. */
export interface NewThreadRef {
  readonly mailbox_id: string;
  readonly ref_hash: string;
  readonly thread_id: string;
}

export interface FoundThreads {
  /** Thread of each seeker, in their order. */
  readonly threadIds: readonly string[];
  /** First writer wins. */
  readonly ids: readonly NewThreadRef[];
  /** Last writer wins: a reply belongs to the newest mail of that subject. */
  readonly subjects: readonly NewThreadRef[];
}

export const findThreads = async (sql: Sql, seekers: readonly ThreadSeeker[]): Promise<FoundThreads> =>
  assignThreads(seekers, await knownThreads(sql, seekers));

/** @param found by `knownThreads` for these seekers, and maybe others */
export function assignThreads(seekers: readonly ThreadSeeker[], found: ReadonlyMap<string, string>): FoundThreads {
  const known = new Map(found);
  const ids = new Map<string, NewThreadRef>();
  const subjects = new Map<string, NewThreadRef>();
  const threadIds = seekers.map(({ mailboxId, refs }) => {
    const threadOf = (hash: string | undefined) => (hash === undefined ? undefined : known.get(`${mailboxId} ${hash}`));
    const earlier = refs.lookFor.map(threadOf).find((id) => id !== undefined) ?? threadOf(refs.lookForSubject);
    const threadId = earlier ?? newId('thread');
    for (const hash of refs.ids) {
      const key = `${mailboxId} ${hash}`;
      if (known.has(key)) continue;
      known.set(key, threadId);
      ids.set(key, { mailbox_id: mailboxId, ref_hash: hash, thread_id: threadId });
    }
    if (refs.subject !== undefined) {
      const key = `${mailboxId} ${refs.subject}`;
      known.set(key, threadId);
      subjects.set(key, { mailbox_id: mailboxId, ref_hash: refs.subject, thread_id: threadId });
    }
    return threadId;
  });
  return { threadIds, ids: [...ids.values()], subjects: [...subjects.values()] };
}

/** The threads that seekers may belong to. Seekers given together find each other in `assignThreads`. */
export async function knownThreads(sql: Sql, seekers: readonly ThreadSeeker[]): Promise<Map<string, string>> {
  const wanted = seekers.flatMap(({ mailboxId, refs }) => [
    ...refs.lookFor.map((hash) => ({ mailboxId, hash, subject: false })),
    ...(refs.lookForSubject === undefined ? [] : [{ mailboxId, hash: refs.lookForSubject, subject: true }]),
  ]);
  if (wanted.length === 0) return new Map();
  const rows = await sql.query<{ key: string; thread_id: string }>(KNOWN_THREADS, [
    wanted.map(({ mailboxId }) => mailboxId),
    wanted.map(({ hash }) => hash),
    wanted.map(({ subject }) => subject),
    THREAD_BY_SUBJECT_DAYS,
  ]);
  return new Map(rows.map(({ key, thread_id }) => [key, thread_id]));
}

/** LATERAL with LIMIT keeps the plan on the primary key, also when it was made while the table was empty. */
const KNOWN_THREADS = `
  select wanted.mailbox_id || ' ' || wanted.hash as key, found.thread_id
    from unnest($1::text[], $2::text[], $3::bool[]) as wanted (mailbox_id, hash, subject)
   cross join lateral (
     select thread_id from thread_ref
      where mailbox_id = wanted.mailbox_id and ref_hash = decode(wanted.hash, 'hex')
        and (not wanted.subject or seen_at > now() - make_interval(days => $4))
      limit 1) as found`;
