/**
 * What a stranger earns by writing first: a reply, and nothing else. Such a reply needs no approval.
 *
 *   one recipient, From is the mailbox ─▶ answers a message that this mailbox received ─▶ from that recipient, DMARC pass
 *     ─▶ nothing in it comes from other mail: no forward, no foreign quotation, no file of another conversation
 *
 * The answered message is found in the mailbox's own received mail; what a client says about threads is only used to
 * look it up. A recipient that a person approved in a thread may be answered there the same way, also if its domain has
 * no DMARC.
 */

import { type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { leaves, type NumberedPart, partText } from '@agent-mailbox/mime-structure/parts';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import { organizationalDomain, withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Database, Sql } from '#db/database.ts';
import { HEADER_BLOCK_MAX_BYTES, MIME_PARTS_MAX } from '#domain/mail/mail-limits.ts';
import { domainOf, isOneOf } from '#domain/mail/mailbox-address.ts';
import { KNOWN_RECIPIENT_USE_NOTED_DAYS } from '#domain/retention.ts';
import {
  REPLY_COMPARED_MAX_BYTES,
  REPLY_QUOTED_LINES_MAX,
  REPLY_QUOTES_MAX_CHARACTERS,
  REPLY_QUOTES_MESSAGES_MAX,
} from '#domain/sending/consent.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import { cameFromOtherMail, type MessageOrigin } from '#mailstore/delivery/insert-messages.ts';
import { readContents, readHtml } from '#mailstore/messages/message-content.ts';
import { readHeader } from '#mailstore/messages/read-messages.ts';
import { attachmentDigests } from '#mime/attachments.ts';
import { htmlContent } from '#mime/html-content.ts';
import { areQuotations, type Quotable, quotable, quotedLines } from '#mime/quotations.ts';
import type { ReadMessage, TextStatus } from '#mime/read-message.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import type { Answered } from '#sending/outbox/own-mail.ts';

interface ReplyQuestion {
  readonly sender: Sender;
  readonly bytes: Buffer;
  readonly read: ReadMessage;
  /** All recipients of the envelope. */
  readonly recipients: readonly string[];
  /** The thread that its references lead to in this mailbox; null: none. */
  readonly threadId: string | null;
  /** The message that this service answered or forwarded for the caller. */
  readonly answers: Answered | null;
  /** Copies of this very message that a client filed before. */
  readonly copyIds: readonly string[];
  /** `settings.repliesNeedApproval`. */
  readonly mustBeApproved: boolean;
}

/** `earned`: it needs no approval. Otherwise why it does. */
type ReplyVerdict = 'earned' | 'first_contact' | 'carries_other_mail' | 'reply_target';

/** How a thread approval is remembered: for this address in this thread. */
export const threadKnown = (threadId: string, address: string): string => `${threadId} ${placeOf(address)}`;

/** Evaluates a message that has a stranger among its recipients. Of what it reads it changes only the use of an approval. */
export async function evaluateReply(db: Database, question: ReplyQuestion): Promise<ReplyVerdict> {
  const { sender, read, recipients } = question;
  const [recipient, ...others] = recipients.map(placeOf);
  const [author, ...authors] = read.from;
  if (recipient === undefined || others.length > 0 || author === undefined || authors.length > 0)
    return 'first_contact';
  if (!isOneOf(sender.own, author.address)) return 'first_contact';
  if ([...read.to, ...read.cc].some(({ address }) => placeOf(address) !== recipient)) return 'first_contact';
  const answered = await findAnswered(db, question);
  const approved = await approvedInThreads(db, sender, answered, recipient);
  let verdict: ReplyVerdict = 'first_contact';
  for (const message of answered) {
    const isKnown = approved.has(message.threadId) && authorOf(message) === recipient && !isForged(message);
    const earns = isKnown ? 'reply' : question.mustBeApproved ? 'nothing' : await earnedBy(db, message, recipient);
    if (earns === 'reply')
      return (await carriesOtherMail(db, question, message, recipient)) ? 'carries_other_mail' : 'earned';
    if (earns === 'elsewhere') verdict = 'reply_target';
  }
  return verdict;
}

/** As lists and envelopes compare addresses: without case, the domain in DNS form. */
const placeOf = (address: string): string => withAsciiDomain(address.toLowerCase());

/** A message of the conversation, as it was stored. */
interface ThreadMessage {
  readonly id: string;
  readonly threadId: string;
  readonly origin: MessageOrigin;
  readonly from: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly subject: string;
  readonly auth: AuthenticationResults | null;
  readonly blob: Buffer;
  readonly size: number;
  readonly parts: PartNode;
  readonly textStatus: TextStatus | 'due';
}

const COLUMNS = `
  m.id, m.thread_id as "threadId", m.origin, m.from_addresses as "from", m.to_addresses as "to", m.cc_addresses as cc,
  m.subject, m.auth, m.blob, m.size, m.parts, m.text_status as "textStatus"`;

/** Several may have the Message-ID: a sender that knows it can write it into another message. */
const ANSWERED_MAX = 20;

/**
 * Received messages of the mailbox that the message answers: the one that this service answered for the caller, or
 * those whose Message-ID is the only one in In-Reply-To and whose thread is that of the message.
 */
async function findAnswered(sql: Sql, question: ReplyQuestion): Promise<ThreadMessage[]> {
  const { sender, bytes, read, threadId, answers } = question;
  if (answers?.as === 'forwarded') return [];
  const fields = headerFields(bytes, 0, Math.min(read.parts.body, HEADER_BLOCK_MAX_BYTES));
  const given = fields.filter(({ name }) => name === 'in-reply-to');
  const ids = given.flatMap(({ value }) => messageIds(value));
  if (answers === null && (given.length !== 1 || ids.length !== 1 || threadId === null)) return [];
  return sql.query<ThreadMessage>(ANSWERED, [
    sender.mailbox.id,
    answers?.messageId ?? null,
    threadId,
    ids[0] ?? null,
    ANSWERED_MAX,
  ]);
}

const ANSWERED = `
  select ${COLUMNS} from message m
   where m.mailbox_id = $1 and m.origin in ('smtp', 'local')
     and case when $2::text is null then m.thread_id = $3 and m.message_id_header = $4
              else m.id = $2 and m.thread_id = coalesce($3, m.thread_id) end
   order by m.id desc limit $5`;

/** Threads in which a person approved this recipient. */
async function approvedInThreads(
  sql: Sql,
  { organization }: Sender,
  answered: readonly ThreadMessage[],
  recipient: string,
): Promise<ReadonlySet<string>> {
  if (answered.length === 0) return new Set();
  const threadIds = [...new Set(answered.map(({ threadId }) => threadId))];
  const values = threadIds.map((id) => threadKnown(id, recipient));
  const rows = await sql.query<{ value: string }>(APPROVED_IN_THREADS, [organization.id, values]);
  const known = new Set(rows.map(({ value }) => value));
  return new Set(threadIds.filter((id) => known.has(threadKnown(id, recipient))));
}

const APPROVED_IN_THREADS = `
  with used as (
    update known_recipient set last_used_at = now()
     where organization_id = $1 and kind = 'thread' and value = any($2::text[]) and source = 'approved'
       and last_used_at < now() - interval '${KNOWN_RECIPIENT_USE_NOTED_DAYS} days'
  )
  select value from known_recipient
   where organization_id = $1 and kind = 'thread' and value = any($2::text[]) and source = 'approved'`;

/** The only author of a message; undefined: it has several, or none. */
function authorOf({ from }: Pick<ThreadMessage, 'from'>): string | undefined {
  const [author, ...others] = from;
  return author === undefined || others.length > 0 || author.address === '' ? undefined : placeOf(author.address);
}

/** What its author earned by a received message. `elsewhere`: it asks for replies at another organization. */
async function earnedBy(
  db: Database,
  message: ThreadMessage,
  recipient: string,
): Promise<'reply' | 'elsewhere' | 'nothing'> {
  const author = authorOf(message);
  if (author === undefined || message.origin !== 'smtp' || !isGenuine(message)) return 'nothing';
  if (recipient === author) return 'reply';
  const [replyTo, ...others] = (await readHeader(db, message)).filter(({ name }) => name === 'reply-to');
  if (replyTo === undefined || others.length > 0) return 'nothing';
  if (!readableAddresses(replyTo.value).some(({ address }) => placeOf(address) === recipient)) return 'nothing';
  if (!isReplyToGenuine(message)) return 'elsewhere';
  return organizationalDomain(domainOf(recipient)) === organizationalDomain(domainOf(author)) ? 'reply' : 'elsewhere';
}

/**
 * Whether its author is proven. The DMARC result and the address come from two parsers: both must be about this domain.
 * A host whose customers have subdomains proves nothing about one of them by a policy of its own.
 */
function isGenuine(message: ThreadMessage): boolean {
  const author = authorOf(message);
  const { result, domain } = message.auth?.dmarc ?? {};
  if (author === undefined || result !== 'pass' || typeof domain !== 'string' || domain === '') return false;
  const proven = withAsciiDomain(domain.toLowerCase());
  const isWithin = `.${domainOf(author)}`.endsWith(`.${proven}`);
  return isWithin && organizationalDomain(domainOf(author)) === organizationalDomain(proven);
}

/**
 * Whether Reply-To is as its author wrote it: it came from a host of the author, or the signature covers it. Of a mail
 * that is sent again, anybody with an address of the same large domain could set it.
 */
function isReplyToGenuine({ auth, from }: ThreadMessage): boolean {
  const author = organizationalDomain(domainOf(from[0]?.address ?? ''));
  const isOfAuthor = (domain: string | null) => domain !== null && organizationalDomain(domain) === author;
  if (auth?.spf.result === 'pass' && isOfAuthor(auth.spf.domain)) return true;
  return (auth?.dkim.signatures ?? []).some(
    ({ result, domain, unsigned }) =>
      result === 'pass' && isOfAuthor(domain) && unsigned?.includes('reply-to') === false,
  );
}

/** Mail whose author is known to be somebody else: forged outside, or written by a mailbox here for another author. */
const isForged = ({ origin, auth }: ThreadMessage): boolean =>
  auth?.dmarc.result === 'fail' || (origin === 'local' && auth?.dmarc.result !== 'pass');

/** Files that are mail. */
const MAIL_FILE = /\.(?:eml|emlx|msg|mbox|mbx)$/i;

/** Whether anything in a reply comes from mail that its recipient did not write or get in this conversation. */
async function carriesOtherMail(
  db: Database,
  { sender, bytes, read, copyIds }: ReplyQuestion,
  answered: ThreadMessage,
  recipient: string,
): Promise<boolean> {
  // What was not read completely, or what readers read differently, cannot be compared.
  if (read.content.status !== 'ok' || !isReadAlike(bytes, read.parts)) return true;
  const parts = [...leaves(read.parts)];
  if (parts.some(({ part }) => isMail(part))) return true;
  const texts = textsOf(bytes, parts);
  if (texts === undefined) return true;
  const quoted = texts.flatMap(quotedLines);
  if (quoted.length > REPLY_QUOTED_LINES_MAX) return true;
  const textParts = parts.filter(({ part }) => part.type === 'text').map(({ number }) => ({ id: number }));
  const digests = {
    files: read.attachmentDigests,
    texts: attachmentDigests(bytes, read.parts, textParts),
  };
  const isOfOthers = (known: readonly string[]) =>
    cameFromOtherMail(db, sender.organization.id, digests, [...known, ...copyIds]);
  const isStored = await isOfOthers([]);
  if (!isStored && quoted.length === 0) return false;
  const shared = await sharedMessages(db, sender, answered, recipient);
  if (quoted.length > 0 && !areQuotations(quoted, await quotableOf(db, shared))) return true;
  return isStored && isOfOthers(shared.map(({ id }) => id));
}

const ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);

/**
 * Whether other programs find the same parts in a message: none beyond the limits of this parser, none whose header is
 * read in part only or has a field twice, and none in an encoding that is unknown here.
 */
function isReadAlike(bytes: Buffer, root: PartNode): boolean {
  const parts = [root];
  for (const part of parts) {
    if (part.type === 'multipart') parts.push(...(part.parts ?? []));
    if (parts.length >= MIME_PARTS_MAX || part.body - part.header > HEADER_BLOCK_MAX_BYTES) return false;
    const names = headerFields(bytes, part.header, part.body)
      .map(({ name }) => name)
      .filter((name) => name.startsWith('content-'));
    if (new Set(names).size < names.length || !ENCODINGS.has(part.encoding)) return false;
  }
  return true;
}

/** A mail inside the mail, or a part that could not be taken apart. */
const isMail = ({ type, subtype, filename }: PartNode): boolean =>
  type === 'message' || type === 'multipart' || subtype === 'rfc822-headers' || MAIL_FILE.test(filename ?? '');

/** The texts that a reader may see, each alternative. Undefined: there is too much of them. */
function textsOf(bytes: Buffer, parts: readonly NumberedPart[]): string[] | undefined {
  const texts = parts.filter(({ part }) => part.type === 'text');
  const size = texts.reduce((sum, { part }) => sum + part.end - part.body, 0);
  if (size > REPLY_COMPARED_MAX_BYTES) return undefined;
  const found: string[] = [];
  for (const { part } of texts) {
    const text = partText(bytes, part);
    const html = part.subtype === 'html' ? htmlContent(text) : undefined;
    if (html?.cut) return undefined;
    found.push(html?.text ?? text);
  }
  return found;
}

/** Messages of the thread that the recipient wrote or got, newest first, the answered one before all others. */
async function sharedMessages(
  sql: Sql,
  { mailbox, organization }: Sender,
  answered: ThreadMessage,
  recipient: string,
): Promise<ThreadMessage[]> {
  const rows = await sql.query<ThreadMessage & { readonly sentToIt: boolean }>(OF_THREAD, [
    mailbox.id,
    answered.threadId,
    recipient,
    answered.id,
    REPLY_QUOTES_MESSAGES_MAX,
    organization.id,
  ]);
  // Of mail within this host, the header may name whom it was not sent to.
  const names = ({ origin, to, cc }: ThreadMessage) =>
    origin === 'smtp' && [...to, ...cc].some(({ address }) => placeOf(address) === recipient);
  const shared = rows.filter(
    (message) => message.sentToIt || (isGenuine(message) && (authorOf(message) === recipient || names(message))),
  );
  return [answered, ...shared];
}

/** A copy that a client filed, or mail within this host, has to be what was sent, byte for byte. */
const OF_THREAD = `
  select ${COLUMNS},
         m.origin = 'submission' and exists (
           select from outbound_recipient r
            where r.message_id = m.id and lower(r.address) = $3 and r.status in ('sent', 'captured'))
         or m.origin in ('append', 'local') and exists (
           select from outbound_message o join outbound_recipient r on r.message_id = o.id
            where o.blob = m.blob and o.organization_id = $6 and lower(r.address) = $3
              and r.status in ('sent', 'captured')) as "sentToIt"
    from message m
   where m.mailbox_id = $1 and m.thread_id = $2 and m.id <> $4
   order by m.id desc limit $5`;

/** Messages whose HTML may be quoted instead of their plain text. */
const HTML_QUOTED_MAX = 5;

async function quotableOf(db: Database, messages: readonly ThreadMessage[]): Promise<Quotable> {
  const contents = await readContents(db, messages);
  const texts: string[] = [];
  let left = REPLY_QUOTES_MAX_CHARACTERS;
  const add = (text: string) => {
    texts.push(text.slice(0, left));
    left -= Math.min(left, text.length);
  };
  for (const [index, message] of messages.entries()) {
    if (left === 0) break;
    add(message.subject);
    add(contents.get(message.id)?.text ?? '');
    const { html } = index < HTML_QUOTED_MAX ? await readHtml(db, message) : { html: null };
    if (html === null) continue;
    add(htmlContent(html).text);
    add(html);
  }
  return quotable(texts);
}
