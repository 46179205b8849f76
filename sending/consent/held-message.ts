/**
 * The whole message that waits for a decision, for a person who may decide, by a session or by a notice's link.
 * Everything is read from the bytes that would be sent, and the hash of the request is computed again from the same
 * bytes.
 */

import { type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type AttachmentInfo, bodyParts, type NumberedPart, partText } from '@agent-mailbox/mime-structure/parts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { responsibleFor } from '#core/organizations/decision-rules.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { HEADER_BLOCK_MAX_BYTES, SEARCH_TEXT_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import type { AnsweredAs, RecipientStatus } from '#domain/sending/outbound.ts';
import { readContent as readStoredContent } from '#mailstore/messages/message-content.ts';
import { findMessage, messagesOfThreads, type StoredMessage } from '#mailstore/messages/read-messages.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { type AlternativesDifference, alternativesDifference } from '#mime/alternatives-difference.ts';
import type { LabelledAttachment } from '#mime/attachments.ts';
import { hashContent } from '#mime/content-hash.ts';
import { htmlContent } from '#mime/html-content.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { findSources, type ShownSource } from '#sending/carried/carried-passages.ts';
import { findOutbound, findRecipients, type OutboundMessage, readContent } from '#sending/outbox/outbound-message.ts';
import { type EarlierVersion, findEarlierVersions } from './earlier-versions.ts';
import { type ConsentRow, findConsent } from './find-consents.ts';
import { type RecipientHistory, recipientHistory } from './recipients-to-ask.ts';

/** A recipient of the envelope; only the envelope decides who gets the message. */
export interface HeldRecipient {
  readonly address: string;
  /** The header field that contains it; `bcc`: no field does. */
  readonly as: 'to' | 'cc' | 'bcc';
  /** Whether the request is about it. */
  readonly asked: boolean;
  readonly status: RecipientStatus;
  readonly history: RecipientHistory;
}

/** The conversation that a message continues. */
export interface HeldAnswer {
  readonly threadId: string | null;
  readonly as: AnsweredAs;
  /** Null: it was deleted, or it is in the thread without a reference. */
  readonly message: (StoredMessage & { readonly text: string }) | null;
  /** Other messages of the thread that came before it, newest first. */
  readonly earlier: readonly StoredMessage[];
}

export interface HeldMessage {
  readonly consent: ConsentRow;
  readonly mailbox: {
    readonly id: string;
    readonly address: string;
    readonly name: string;
    readonly purpose: string | null;
  };
  readonly message: OutboundMessage;
  readonly from: MailAddress | null;
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly replyTo: readonly MailAddress[];
  readonly recipients: readonly HeldRecipient[];
  readonly subject: string;
  /** The plain text as sent; null: it has none. */
  readonly text: string | null;
  /** The HTML as sent, not sanitised; null: it has none. */
  readonly html: string | null;
  /** Text made from the HTML; null: there is none. */
  readonly textOfHtml: string | null;
  /** What text and HTML say differently; null: it has not both. */
  readonly textAndHtml: AlternativesDifference | null;
  /** There is more than is shown; the raw message has all of it. */
  readonly truncated: boolean;
  readonly attachments: readonly LabelledAttachment[];
  readonly answers: HeldAnswer | null;
  /** Other mail that it carries passages of. */
  readonly carried: readonly ShownSource[];
  /** Those that were sent back before it, newest first. */
  readonly earlierVersions: readonly EarlierVersion[];
  /** Who may decide now. */
  readonly decides: Decides;
  /** Whether the bytes shown and the recipients are those of the request; null: the bytes have been deleted. */
  readonly hashMatches: boolean | null;
}

/** Who decides about a message, in names. */
export interface Decides {
  /** Null: every member may. */
  readonly names: readonly string[] | null;
  readonly persons: 1 | 2;
  /** When every member may; null: they may now. */
  readonly everyMemberFrom: Date | null;
}

/** Of the HTML that is made into text: what takes a few milliseconds. */
const COMPARED_HTML_MAX_CHARACTERS = 500_000;
const EARLIER_SHOWN_MAX = 10;
const ANSWERED_TEXT_MAX_CHARACTERS = 8_192;

type Part = Pick<Services, 'db' | 'now'>;

/**
 * All information for a decision. The caller must check who may see it.
 *
 * @throws {CatalogueError} not_found
 */
export async function findHeldMessage(
  { db, now }: Part,
  organizationId: string,
  consentId: string,
  groups: readonly string[] | null = null,
): Promise<HeldMessage> {
  const { consent, message, bytes, read } = await readHeld(db, organizationId, consentId);
  const mailbox = await getMailbox(db, organizationId, consent.mailboxId);
  const fields = headerFields(bytes, 0, Math.min(read.parts.body, HEADER_BLOCK_MAX_BYTES));
  const envelope = await findRecipients(db, message.id);
  const addresses = envelope.map(({ address }) => address);
  const histories = await recipientHistory(db, organizationId, message.id, addresses);
  const [inTo, inCc] = [placesOf(read.to), placesOf(read.cc)];
  const asked = new Set(consent.recipients);
  const recipients = envelope.flatMap(({ address, status }): HeldRecipient[] => {
    const place = address.toLowerCase();
    const history = histories.find((each) => each.address === place);
    const as = inTo.has(place) ? 'to' : inCc.has(place) ? 'cc' : 'bcc';
    return history === undefined ? [] : [{ address, as, asked: asked.has(place), status, history }];
  });
  const { plain, html } = bodyParts(read.parts);
  const [shownText, shownHtml] = [textOf(bytes, plain), textOf(bytes, html)];
  return {
    consent,
    mailbox: { id: mailbox.id, address: mailbox.address, name: mailbox.name, purpose: mailbox.purpose },
    message,
    from: read.from[0] ?? null,
    to: read.to,
    cc: read.cc,
    replyTo: readableAddresses(firstValue(fields, 'reply-to') ?? ''),
    recipients,
    subject: read.subject,
    text: shownText.text,
    html: shownHtml.text,
    ...compared(shownText.text, shownHtml.text),
    truncated: read.content.status !== 'ok' || shownText.cut || shownHtml.cut,
    attachments: read.attachments,
    answers: await findAnswered(db, message),
    carried: await findSources(db, organizationId, consent.id, groups),
    earlierVersions: await findEarlierVersions(db, organizationId, consent),
    decides: await findDecides(db, organizationId, consent, now()),
    hashMatches: message.blob === null ? null : hashContent(bytes, addresses).equals(consent.contentHash),
  };
}

async function findDecides(db: Database, organizationId: string, consent: ConsentRow, nowMs: number): Promise<Decides> {
  const { memberIds, persons, escalatesAtMs } = await responsibleFor(db, organizationId, consent, nowMs);
  if (memberIds === null) return { names: null, persons, everyMemberFrom: null };
  const rows = await db.query<{ name: string }>(
    `select u.name from members m join users u on u.id = m.user_id where m.id = any($1::text[]) order by u.name`,
    [memberIds],
  );
  return {
    names: rows.map(({ name }) => name),
    persons,
    everyMemberFrom: escalatesAtMs === undefined ? null : new Date(escalatesAtMs),
  };
}

/** The data for a download of the message or of one of its attachments. */
interface HeldBytes {
  /** Of the message. */
  readonly id: string;
  readonly blob: Buffer;
  readonly size: number;
  readonly parts: PartNode;
  readonly attachments: readonly AttachmentInfo[];
}

/** @throws {CatalogueError} not_found, also if the bytes have been deleted */
export async function findHeldBytes({ db }: Part, organizationId: string, consentId: string): Promise<HeldBytes> {
  const { message, read } = await readHeld(db, organizationId, consentId);
  const { id, blob, size } = message;
  if (blob === null) throw new CatalogueError('not_found', 'The content of this message has been deleted.');
  return { id, blob, size, parts: read.parts, attachments: read.attachments };
}

async function readHeld(
  db: Database,
  organizationId: string,
  consentId: string,
): Promise<{ consent: ConsentRow; message: OutboundMessage; bytes: Buffer; read: ReadMessage }> {
  const consent = await findConsent(db, organizationId, consentId);
  const message = consent === undefined ? undefined : await findOutbound(db, consent.messageId);
  if (consent === undefined || message === undefined) throw new CatalogueError('not_found');
  const bytes = await readContent(db, message);
  return { consent, message, bytes, read: await readSafely(db, bytes, { source: message.mailboxId }) };
}

/** As the envelope spells addresses. */
const placesOf = (list: readonly MailAddress[]): Set<string> =>
  new Set(list.map(({ address }) => withAsciiDomain(address).toLowerCase()));

function textOf(bytes: Buffer, parts: readonly NumberedPart[]): { text: string | null; cut: boolean } {
  if (parts.length === 0) return { text: null, cut: false };
  const texts = parts.map(({ part }) => partText(bytes, part, SEARCH_TEXT_MAX_BYTES));
  const cut = parts.some(({ part }) => part.end - part.body > SEARCH_TEXT_MAX_BYTES);
  return { text: storableText(texts.join('\n')), cut };
}

/** The HTML as text, and what it says otherwise than the plain text. */
function compared(text: string | null, html: string | null): Pick<HeldMessage, 'textOfHtml' | 'textAndHtml'> {
  if (html === null) return { textOfHtml: null, textAndHtml: null };
  const { text: textOfHtml, links, cut } = htmlContent(html.slice(0, COMPARED_HTML_MAX_CHARACTERS));
  if (text === null || text.trim() === '') return { textOfHtml, textAndHtml: null };
  const difference = alternativesDifference({ text, htmlText: textOfHtml, htmlLinks: links });
  const isWhole = !cut && html.length <= COMPARED_HTML_MAX_CHARACTERS;
  return { textOfHtml, textAndHtml: { ...difference, complete: difference.complete && isWhole } };
}

async function findAnswered(db: Database, message: OutboundMessage): Promise<HeldAnswer | null> {
  const { mailboxId, answersMessageId, answersAs } = message;
  const answered = answersMessageId === null ? undefined : await findMessage(db, mailboxId, answersMessageId);
  const threadId = message.threadId ?? answered?.threadId ?? null;
  if (threadId === null && answersMessageId === null) return null;
  const inThread = threadId === null ? [] : await messagesOfThreads(db, mailboxId, [threadId], EARLIER_SHOWN_MAX + 2);
  // Once it is filed it is in a thread itself, and later messages come to it.
  const earlier = inThread.filter(({ id }) => id !== answered?.id && id < message.id).slice(0, EARLIER_SHOWN_MAX);
  if (answersAs === null && earlier.length === 0) return null;
  const text =
    answered === undefined ? '' : (await readStoredContent(db, answered)).text.slice(0, ANSWERED_TEXT_MAX_CHARACTERS);
  return {
    threadId,
    as: answersAs ?? 'answered',
    message: answered === undefined ? null : { ...answered, text: text.toWellFormed() },
    earlier,
  };
}
