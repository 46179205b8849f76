/** From the body of a request to a submitted message and its answer. */
import type { Static } from 'typebox';
import { readBlob } from '../../core/blob-store.ts';
import type { Caller } from '../../core/caller.ts';
import { getMailbox } from '../../core/mailbox-queries.ts';
import type { MailboxView } from '../../core/mailbox-view.ts';
import type { Services } from '../../core/services.ts';
import { startOutbound } from '../../core/start-outbound.ts';
import type { TemporalClient } from '../../core/temporal-client.ts';
import { HELD_SENTENCE } from '../../domain/consent.ts';
import { CatalogueError } from '../../domain/errors.ts';
import { formatAddress, type MailAddress, readableAddresses } from '../../mail/mime/addresses.ts';
import type { HeaderField } from '../../mail/mime/header-fields.ts';
import { answerRecipients, answerReferences, prefixedSubject } from '../../mail/outbound/answer-message.ts';
import { findAttempts } from '../../mail/outbound/attempts.ts';
import {
  type ComposedAttachment,
  checkHeaders,
  composeMessage,
  envelopeRecipients,
  readAddresses,
} from '../../mail/outbound/compose-message.ts';
import { findOutbound, findRecipients, outboundStatusOf } from '../../mail/outbound/outbound-message.ts';
import type { Answered } from '../../mail/outbound/own-mail.ts';
import { prepareMessage } from '../../mail/outbound/prepare-message.ts';
import { type Submission, type Submitted, submitMessage } from '../../mail/outbound/submit-message.ts';
import { findMessage, readHeader, readText, type StoredMessageContent } from '../../mail/store/read-messages.ts';
import type {
  ForwardMessage,
  HeldMessage,
  MessageStatus,
  ReplyMessage,
  SendMessage,
  SentMessage,
} from './send-schema.ts';

export interface SendContext {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly caller: Caller;
  readonly organization: { readonly id: string };
}

type Content = Omit<Static<typeof SendMessage>, 'to' | 'cc' | 'bcc' | 'subject'>;

interface Letter {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly bcc: readonly MailAddress[];
  readonly subject: string;
  readonly inReplyTo?: string | undefined;
  readonly references?: readonly string[];
  readonly omitted?: readonly MailAddress[];
  /** The message it answers or forwards. */
  readonly answers?: Answered;
  /** Beside those of the request. */
  readonly attachments?: readonly ComposedAttachment[];
}

export type Reply =
  | { readonly status: 201; readonly body: Static<typeof SentMessage> }
  | { readonly status: 202; readonly body: Static<typeof HeldMessage> };

const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}\s*$/;

/** @throws {CatalogueError} invalid_request for what is not base64 */
export function attachmentsOf({ attachments = [] }: Pick<Content, 'attachments'>): ComposedAttachment[] {
  return attachments.map(({ filename, contentType, contentBase64, contentId }, i) => {
    if (!BASE64.test(contentBase64))
      throw new CatalogueError('invalid_request', undefined, {
        details: [{ path: `/attachments/${i}/contentBase64`, message: 'must be base64' }],
      });
    return { filename, contentType, content: Buffer.from(contentBase64, 'base64'), contentId };
  });
}

/** The mailbox as author. A generated local part is no name. */
export const authorOf = ({ name, localPart, address }: MailboxView): MailAddress => ({
  name: name === localPart ? '' : name,
  address,
});

async function submit(context: SendContext, mailbox: MailboxView, letter: Letter, content: Content): Promise<Reply> {
  const { caller, organization } = context;
  const headers = content.headers ?? {};
  const sendAt = content.sendAt === undefined ? null : new Date(content.sendAt);
  checkHeaders(headers);
  const recipients = envelopeRecipients([letter.to, letter.cc, letter.bcc]);
  const from = authorOf(mailbox);
  const composed = await composeMessage({
    from,
    to: letter.to,
    cc: letter.cc,
    bcc: letter.bcc,
    replyTo: readAddresses(content.replyTo ?? [], '/replyTo'),
    subject: letter.subject,
    text: content.text,
    html: content.html,
    attachments: [...attachmentsOf(content), ...(letter.attachments ?? [])],
    headers,
    inReplyTo: letter.inReplyTo,
    references: letter.references ?? [],
    // Readers sort by it: a scheduled message is of the day it goes.
    ...(sendAt === null ? {} : { date: sendAt }),
  });
  const prepared = prepareMessage(composed, mailbox.address, new Date(context.services.now()));
  return answerSubmitted(
    context,
    {
      organizationId: organization.id,
      mailboxId: mailbox.id,
      prepared,
      recipients,
      via: 'api',
      actor: caller.actor,
      labels: content.labels ?? [],
      clientId: content.clientId ?? null,
      sendAt,
      answers: letter.answers ?? null,
    },
    { ...letter, from },
  );
}

/** What the answer to a submission tells of the message beside the outcome. */
export interface SubmittedLetter extends Pick<Letter, 'to' | 'cc' | 'bcc' | 'subject' | 'omitted'> {
  readonly from: MailAddress;
}

/** Submits, starts the workflow, and answers with what became of it: 201, or 202 while it is held. */
export async function answerSubmitted(
  { services, temporal }: SendContext,
  submission: Submission,
  letter: SubmittedLetter,
): Promise<Reply> {
  const submitted = await submitMessage(services, submission);
  if (submitted.repeated) return answerRepeated(services, submitted);
  await startOutbound(services, temporal, submitted);
  return answerOf(submitted, {
    from: formatAddress(letter.from),
    to: letter.to.map(formatAddress),
    cc: letter.cc.map(formatAddress),
    bcc: letter.bcc.map(formatAddress),
    subject: letter.subject,
    messageId: submission.prepared.messageId,
    omitted: (letter.omitted ?? []).map(formatAddress),
  });
}

/** The answer to a submission that was made before, from its rows. */
export async function answerRepeated({ db }: Pick<Services, 'db'>, submitted: Submitted): Promise<Reply> {
  const first = await findOutbound(db, submitted.messageId);
  if (first === undefined) throw new CatalogueError('not_found');
  const shown = new Set(
    [...first.to, ...first.cc].flatMap(readableAddresses).map(({ address }) => address.toLowerCase()),
  );
  const bcc = (await findRecipients(db, first.id)).filter(({ address }) => !shown.has(address.toLowerCase()));
  return answerOf(submitted, {
    from: first.from,
    to: [...first.to],
    cc: [...first.cc],
    bcc: bcc.map(({ address }) => address),
    subject: first.subject,
    messageId: first.messageIdHeader,
    omitted: [],
  });
}

function answerOf(
  { messageId: id, threadId, status, consentId, sendAt }: Submitted,
  letter: Omit<Static<typeof SentMessage>, 'id' | 'threadId' | 'status' | 'sendAt'>,
): Reply {
  const shown = { id, ...letter, sendAt: sendAt?.toISOString() ?? null };
  if (consentId !== null)
    return { status: 202, body: { ...shown, status: 'consent_pending', consentId, message: HELD_SENTENCE } };
  return { status: 201, body: { ...shown, threadId, status } };
}

/** The recipients a request names. */
export const named = (body: { to?: string[]; cc?: string[]; bcc?: string[] }) => ({
  to: readAddresses(body.to ?? [], '/to'),
  cc: readAddresses(body.cc ?? [], '/cc'),
  bcc: readAddresses(body.bcc ?? [], '/bcc'),
});

export async function sendMessage(
  context: SendContext,
  mailboxId: string,
  body: Static<typeof SendMessage>,
): Promise<Reply> {
  const mailbox = await getMailbox(context.services.db, context.organization.id, mailboxId);
  return submit(context, mailbox, { ...named(body), subject: body.subject }, body);
}

interface AnsweredMessage {
  readonly mailbox: MailboxView;
  readonly message: StoredMessageContent;
  readonly fields: readonly HeaderField[];
}

async function answered(
  { services, organization }: SendContext,
  mailboxId: string,
  id: string,
): Promise<AnsweredMessage> {
  const mailbox = await getMailbox(services.db, organization.id, mailboxId);
  const message = await findMessage(services.db, mailbox.id, id);
  if (message === undefined) throw new CatalogueError('not_found');
  return { mailbox, message, fields: await readHeader(services.db, message) };
}

export async function replyToMessage(
  context: SendContext,
  mailboxId: string,
  messageId: string,
  body: Static<typeof ReplyMessage>,
  all: boolean,
): Promise<Reply> {
  const { mailbox, message, fields } = await answered(context, mailboxId, messageId);
  const answer = answerRecipients(fields, mailbox.address, all);
  const more = named(body);
  const given = new Set([...more.to, ...more.cc, ...more.bcc].map(({ address }) => address.toLowerCase()));
  const letter = {
    to: [...answer.to, ...more.to],
    cc: [...answer.cc.filter(({ address }) => !given.has(address.toLowerCase())), ...more.cc],
    bcc: more.bcc,
    omitted: answer.omitted.filter(({ address }) => !given.has(address.toLowerCase())),
    subject: body.subject ?? prefixedSubject('Re', message.subject),
    ...answerReferences(fields),
    answers: { messageId: message.id, as: 'answered' as const },
  };
  return submit(context, mailbox, letter, body);
}

/** The text of the message below one's own, and the whole message attached, byte for byte. */
export async function forwardMessage(
  context: SendContext,
  mailboxId: string,
  messageId: string,
  body: Static<typeof ForwardMessage>,
): Promise<Reply> {
  const { mailbox, message, fields } = await answered(context, mailboxId, messageId);
  const { db } = context.services;
  const original = await readBlob(db, message.blob, 0, message.size);
  const { text } = await readText(db, message);
  const quoted =
    `---------- Forwarded message ----------\nFrom: ${message.from.map(formatAddress).join(', ')}\n` +
    `Date: ${(message.sentAt ?? message.receivedAt).toUTCString()}\nSubject: ${message.subject}\n` +
    `To: ${message.to.map(formatAddress).join(', ')}\n\n${text}`;
  const letter = {
    ...named(body),
    subject: body.subject ?? prefixedSubject('Fwd', message.subject),
    references: answerReferences(fields).references,
    answers: { messageId: message.id, as: 'forwarded' as const },
    attachments: [
      { filename: 'forwarded.eml', contentType: 'message/rfc822', content: original, contentId: undefined },
    ],
  };
  return submit(context, mailbox, letter, {
    ...body,
    text: body.text === undefined ? quoted : `${body.text}\n\n${quoted}`,
  });
}

/** @throws {CatalogueError} not_found */
export async function statusOfMessage(
  { services, organization }: Pick<SendContext, 'services' | 'organization'>,
  mailboxId: string,
  messageId: string,
): Promise<{ status: 200; body: Static<typeof MessageStatus> }> {
  const mailbox = await getMailbox(services.db, organization.id, mailboxId);
  const message = await findOutbound(services.db, messageId);
  if (message === undefined || message.mailboxId !== mailbox.id) throw new CatalogueError('not_found');
  const recipients = await findRecipients(services.db, messageId);
  return {
    status: 200,
    body: {
      id: message.id,
      status: outboundStatusOf(message, recipients),
      consentId: message.consentId,
      submittedAt: message.submittedAt.toISOString(),
      sendAt: message.sendAt?.toISOString() ?? null,
      sentAt: message.firstSentAt?.toISOString() ?? null,
      finishedAt: message.finishedAt?.toISOString() ?? null,
      recipients: recipients.map(({ address, status, code, reply, nextAttemptAt, updatedAt }) => ({
        address,
        status,
        code,
        reply,
        nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
        updatedAt: updatedAt.toISOString(),
      })),
      attempts: (await findAttempts(services.db, messageId)).map(
        ({ recipients: to, startedAt, finishedAt, ...attempt }) => ({
          ...attempt,
          recipients: [...to],
          startedAt: startedAt.toISOString(),
          finishedAt: finishedAt?.toISOString() ?? null,
        }),
      ),
    },
  };
}
