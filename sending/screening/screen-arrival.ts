/**
 * Which mailboxes hold an arriving message, and why.
 *
 *   off ──────────────▶ nothing
 *   suspicious ───────▶ suspicious combinations of signals (`domain/mail/message-signals.ts`)
 *   first_senders ────▶ these, and authors that are not known: whom the organization has written to or approved
 *
 * Nothing is held of an author on the inbound allow list, if the mail is proven to be the author's; or of an author in a
 * thread in which a member released mail of the same author.
 */
import type { Sql } from '#db/database.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import type { HeldReason } from '#domain/mail/screening.ts';
import type { IncomingMessage } from '#mailstore/delivery/insert-messages.ts';
import { isProvenAuthor, onlyAuthor } from '#mailstore/delivery/proven-author.ts';
import type { Recipient } from '#mailstore/delivery/recipients.ts';
import { askLists } from '#sending/lists/sender-lists.ts';

/** See `onlyAuthor`. */
export const authorOf = ({ read: { from } }: Pick<IncomingMessage, 'read'>): string => onlyAuthor(from);

/** See `isProvenAuthor`. */
export const isProven = ({ auth, read }: Pick<IncomingMessage, 'auth' | 'read'>): boolean =>
  isProvenAuthor(authorOf({ read }), auth);

type Screened = ReadonlyMap<string, readonly HeldReason[]>;

/**
 * @param unlisted mailboxes whose alias does not name the author and holds mail of others
 * @returns why each mailbox that holds the message does so, by its id
 */
export async function screenArrival(
  sql: Sql,
  message: IncomingMessage,
  recipients: readonly Recipient[],
  unlisted: ReadonlySet<string> = new Set(),
): Promise<Screened> {
  const { suspicions } = message.read.examined;
  const screening = recipients.filter(
    ({ screening: mode, mailbox }) =>
      mode === 'first_senders' || (mode === 'suspicious' && suspicions.length > 0) || unlisted.has(mailbox.id),
  );
  const held = new Map<string, readonly HeldReason[]>();
  const author = authorOf(message);
  for (const recipient of screening) {
    const { released, known } = await knownAs(sql, message, author, recipient);
    if (released) continue;
    const isFirst = recipient.screening === 'first_senders' && !known;
    const reasons: readonly HeldReason[] = [
      ...(recipient.screening === 'off' ? [] : suspicions),
      ...(isFirst ? (['first_sender'] as const) : []),
      ...(unlisted.has(recipient.mailbox.id) ? (['unlisted_sender'] as const) : []),
    ];
    if (reasons.length > 0) held.set(recipient.mailbox.id, reasons);
  }
  return held;
}

interface Known {
  /** A member has decided for this mail: by the list, or in its thread. */
  readonly released: boolean;
  readonly known: boolean;
}

async function knownAs(
  sql: Sql,
  message: IncomingMessage,
  author: string,
  { mailbox, organization }: Recipient,
): Promise<Known> {
  if (author === '') return { released: false, known: false };
  const proven = isProven(message);
  if (proven) {
    const verdicts = await askLists(sql, {
      organizationId: organization.id,
      mailboxId: mailbox.id,
      direction: 'inbound',
      addresses: [author],
    });
    if (verdicts.get(author)?.action === 'allow') return { released: true, known: true };
  }
  const [row] = await sql.query<Known>(KNOWN, [
    organization.id,
    mailbox.id,
    author,
    domainOf(author),
    proven,
    message.refs.lookFor,
  ]);
  return row ?? { released: false, known: false };
}

/** A sender that forges an author without proof has to know a Message-ID of the thread. */
const KNOWN = `
  select exists (
           select from released_thread t
            where t.mailbox_id = $2 and t.author = $3 and ($5::bool or not t.proven)
              and t.thread_id in (
                select r.thread_id from unnest($6::text[]) as ref (hash)
                  join thread_ref r on r.mailbox_id = $2 and r.ref_hash = decode(ref.hash, 'hex'))) as released,
         $5::bool and (
           exists (
             select from known_recipient
              where organization_id = $1 and source = 'approved'
                and (kind = 'address' and value = $3 or kind = 'domain' and value = $4))
           or exists (
             select from outbound_recipient
              where organization_id = $1 and lower(address) = $3 and status in ('sent', 'captured'))) as known`;
