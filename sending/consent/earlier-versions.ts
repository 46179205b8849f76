/**
 * The earlier versions of a message that a person sent back with a comment. Each is a request of its own:
 *
 *   con_1 ──returned, "leave out the price"──▶ con_2 (resubmits con_1) ──returned──▶ con_3 (resubmits con_2) ──▶ …
 */
import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { CHANGE_TEXT_MAX_CHARACTERS, EARLIER_VERSIONS_MAX } from '#domain/sending/consent.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { findOutbound, findRecipients, readContent } from '#sending/outbox/outbound-message.ts';
import { type ConsentRow, findConsent } from './find-consents.ts';

/** What is compared with the version after it. */
export interface EarlierVersion {
  readonly consent: ConsentRow;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Recipients that no field names. */
  readonly bcc: readonly string[];
  readonly subject: string;
  /** Its text, made from the HTML where there is none; null: the content has been deleted. */
  readonly text: string | null;
  /** There is more text. */
  readonly cut: boolean;
}

/** Those before this request, newest first, at most {@link EARLIER_VERSIONS_MAX}. */
export async function findEarlierVersions(
  db: Database,
  organizationId: string,
  { resubmits }: Pick<ConsentRow, 'resubmits'>,
): Promise<EarlierVersion[]> {
  const versions: EarlierVersion[] = [];
  for (let id = resubmits; id !== null && versions.length < EARLIER_VERSIONS_MAX; ) {
    const consent = await findConsent(db, organizationId, id);
    if (consent === undefined) break;
    versions.push(await readVersion(db, consent));
    id = consent.resubmits;
  }
  return versions;
}

async function readVersion(db: Database, consent: ConsentRow): Promise<EarlierVersion> {
  const message = await findOutbound(db, consent.messageId);
  if (message === undefined || message.blob === null)
    return { consent, to: [], cc: [], bcc: [], subject: consent.subject, text: null, cut: false };
  const read = await readSafely(db, await readContent(db, message), { source: message.mailboxId });
  const shown = new Set([...read.to, ...read.cc].map(({ address }) => address.toLowerCase()));
  const envelope = (await findRecipients(db, message.id)).map(({ address }) => address);
  const { text: whole, status } = read.content;
  return {
    consent,
    to: read.to.map(formatAddress),
    cc: read.cc.map(formatAddress),
    bcc: envelope.filter((address) => !shown.has(address.toLowerCase())),
    subject: read.subject,
    text: whole.slice(0, CHANGE_TEXT_MAX_CHARACTERS).toWellFormed(),
    cut: status === 'cut' || whole.length > CHANGE_TEXT_MAX_CHARACTERS,
  };
}

/**
 * Before a changed message is stored. Concurrent submissions are decided by the unique index `consent_resubmits`; this
 * lock makes the second one wait and see the first.
 *
 * @throws {CatalogueError} conflict: the mailbox has no such request, it was not sent back, or it is continued already
 */
export async function requireResubmittable(
  sql: Sql,
  { mailboxId, resubmits }: { readonly mailboxId: string; readonly resubmits?: string | null },
): Promise<void> {
  if ((resubmits ?? null) === null) return;
  const [row] = await sql.query<{ returned: boolean }>(
    `select returned from consent where id = $1 and mailbox_id = $2 for no key update`,
    [resubmits, mailboxId],
  );
  if (row?.returned !== true)
    throw new CatalogueError('conflict', 'This mailbox has no message that was sent back under this consent id.', {
      fix: 'Leave out `resubmits`, or give the consentId of a message whose decision is `returned`.',
    });
  const [next] = await sql.query<{ message_id: string }>(`select message_id from consent where resubmits = $1`, [
    resubmits,
  ]);
  if (next !== undefined)
    throw new CatalogueError('conflict', `A changed message was submitted for it already: ${next.message_id}.`, {
      fix: 'If that one is sent back too, give its consentId. Otherwise send this message without `resubmits`.',
    });
}
