/** From the body of a request to the use case of sending (`sending/submit/submit-message.ts`), and its answer. */

import { addressesOfText, formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Static } from 'typebox';
import { ownMailbox, type Principal } from '#api/http/principal.ts';
import { timeOf } from '#api/http/schema-parts.ts';
import { presentDecision } from '#api/messages/decision.ts';
import { stoppedBecause } from '#core/mailboxes/sending-brakes.ts';
import type { Caller } from '#core/platform/caller.ts';
import { type ClientId, hashOfContent } from '#core/platform/client-id.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { findOwnAddresses } from '#db/queries/mailboxes/own-addresses.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { isOneOf } from '#domain/mail/mailbox-address.ts';
import { tokenAllows } from '#domain/organizations/mailboxes.ts';
import { HELD_SENTENCE } from '#domain/sending/consent.ts';
import { REPEATED_SENTENCE } from '#domain/sending/outbound.ts';
import { OVER_BUDGET_SENTENCES } from '#domain/sending/sending-brakes.ts';
import type { EnvelopeMailbox } from '#domain/webhooks/event-types.ts';
import { findMessage, readHeader } from '#mailstore/messages/read-messages.ts';
import { findAttempts } from '#sending/attempt/attempts.ts';
import {
  authorOf,
  forwardLetter,
  type Letter,
  type Original,
  type OwnParts,
  replyLetter,
} from '#sending/compose/answer-letter.ts';
import { readAddresses } from '#sending/compose/compose-message.ts';
import { readAttachments } from '#sending/compose/given-attachments.ts';
import { findConsent } from '#sending/consent/find-consents.ts';
import { findRepeated, type Submitted } from '#sending/outbox/find-submitted.ts';
import { findOutbound, findRecipients, outboundStatusOf } from '#sending/outbox/outbound-message.ts';
import { decisionOf } from '#sending/outbox/outbox.ts';
import type { Submission } from '#sending/submit/plan-submission.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { type SubmittedBytes, submitBytes, submitLetter } from '#sending/submit/submit-message.ts';
import type {
  ForwardMessage,
  HeldMessage,
  MessageStatus,
  RepeatedMessage,
  ReplyMessage,
  SendMessage,
  SentMessage,
} from './send-schema.ts';

export interface SendContext {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly caller: Caller;
  readonly organization: { readonly id: string };
  readonly principal: Principal;
}

type Content = Static<typeof SendMessage> | Static<typeof ReplyMessage> | Static<typeof ForwardMessage>;

export type Reply =
  | { readonly status: 200; readonly body: Static<typeof RepeatedMessage> }
  | { readonly status: 201; readonly body: Static<typeof SentMessage> }
  | { readonly status: 202; readonly body: Static<typeof HeldMessage> };

/** What `submitLetter` and `submitBytes` need: services, and the start of the workflow after the commit. */
const partsOf = ({ services, temporal, caller }: SendContext) => ({
  services,
  origin: {
    listener: 'api',
    request: caller.requestId ?? undefined,
    client: caller.ipAddress ?? undefined,
  } as const,
  start: async (submitted: Submitted) => {
    await services.db.afterCommit(() => startOutbound(services, temporal, submitted));
  },
});

/**
 * The alias that a request wants to write as.
 *
 * @param own addresses of the mailbox @throws {CatalogueError} invalid_request
 */
export function writtenAs(own: readonly string[], from: string): { readonly from: string } {
  const [address = ''] = readAddresses(from, '/from').map((each) => each.address);
  if (isOneOf(own, address)) return { from: address };
  throw new CatalogueError('invalid_request', undefined, {
    details: [{ path: '/from', message: `is neither ${own[0]} nor an alias of the mailbox that is in use` }],
  });
}

/** The parts of a letter that a request gives. */
const ownParts = async ({ services }: SendContext, { id }: EnvelopeMailbox, body: Content): Promise<OwnParts> => ({
  ...(body.from === undefined ? {} : writtenAs(await findOwnAddresses(services.db, id), body.from)),
  ...named(body),
  replyTo: readAddresses(body.replyTo ?? [], '/replyTo'),
  subject: body.subject,
  text: body.text,
  html: body.html,
  attachments: await readAttachments(services, id, body.attachments ?? []),
  headers: body.headers ?? {},
});

/** What a request does, and with which message of the mailbox. */
type Purpose = readonly ['send'] | readonly ['reply' | 'reply-all' | 'forward', string];

/** A token that does not read could find out the content of others by trying: it repeats only its own messages. */
const onlyFor = (principal: Principal): string | null =>
  principal.kind === 'mailbox' && !readsMail(principal) ? principal.credentialId : null;

function clientIdOf({ principal }: SendContext, purpose: Purpose, { clientId, ...body }: Content): ClientId | null {
  if (clientId === undefined) return null;
  return { id: clientId, hashes: [hashOfContent([purpose, body, onlyFor(principal)])] };
}

/** The answer to an earlier request with the same words. What it refers to may be gone by now. */
async function answeredBefore(
  context: SendContext,
  mailboxId: string,
  clientId: ClientId | null,
): Promise<Reply | undefined> {
  if (clientId === null) return undefined;
  const earlier = await findRepeated(context.services.db, mailboxId, clientId);
  return earlier && answerRepeated(context, earlier);
}

async function submit(
  context: SendContext,
  mailbox: EnvelopeMailbox,
  letter: Letter,
  body: Content,
  clientId: ClientId | null,
): Promise<Reply> {
  const { caller, organization, principal } = context;
  const sender = { ...mailbox, organizationId: organization.id };
  const submitted = await submitLetter(partsOf(context), sender, letter, {
    via: 'api',
    actor: caller.actor,
    labels: body.labels ?? [],
    clientId,
    sendAt: body.sendAt === undefined ? null : new Date(body.sendAt),
    resubmits: body.resubmits ?? null,
    onlyFor: onlyFor(principal),
  });
  return answerSubmitted(context, mailbox, submitted, letter);
}

/** Sends the bytes of a draft. */
export async function submitDraft(
  context: SendContext,
  mailbox: EnvelopeMailbox,
  bytes: Buffer,
  letter: SubmittedParts,
  terms: Pick<Submission, 'recipients' | 'labels' | 'clientId' | 'sendAt' | 'draftMessageId'>,
): Promise<Reply> {
  const { caller, organization } = context;
  const sender = { ...mailbox, organizationId: organization.id };
  const submitted = await submitBytes(partsOf(context), sender, bytes, { ...terms, via: 'api', actor: caller.actor });
  return answerSubmitted(context, mailbox, submitted, letter);
}

type SubmittedParts = Pick<Letter, 'from' | 'to' | 'cc' | 'bcc' | 'subject' | 'omitted'>;

/** The outcome: 201, 202 while it is held, or 200 if it was submitted before. */
async function answerSubmitted(
  context: SendContext,
  mailbox: EnvelopeMailbox,
  submitted: SubmittedBytes,
  letter: SubmittedParts,
): Promise<Reply> {
  if (submitted.repeated) return answerRepeated(context, submitted);
  return answerOf(submitted, {
    from: formatAddress(authorOf(mailbox, letter.from)),
    to: letter.to.map(formatAddress),
    cc: letter.cc.map(formatAddress),
    bcc: letter.bcc.map(formatAddress),
    subject: letter.subject,
    messageId: submitted.messageIdHeader,
    omitted: (letter.omitted ?? []).map(formatAddress),
  });
}

/** The answer to a submission that was made before: its message as it is now. A token that reads nothing gets no content. */
export async function answerRepeated(
  { services: { db }, principal }: Pick<SendContext, 'services' | 'principal'>,
  { messageId: id, threadId, status, consentId, sendAt }: Submitted,
): Promise<Reply> {
  const message = consentId === null ? REPEATED_SENTENCE : `${REPEATED_SENTENCE} ${HELD_SENTENCE}`;
  const outcome = { id, status, repeated: true as const, consentId, message };
  if (!readsMail(principal)) return { status: 200, body: outcome };
  const first = await findOutbound(db, id);
  if (first === undefined) throw new CatalogueError('not_found');
  const shown = new Set(
    [...first.to, ...first.cc].flatMap(addressesOfText).map(({ address }) => address.toLowerCase()),
  );
  const bcc = (await findRecipients(db, id)).filter(({ address }) => !shown.has(address.toLowerCase()));
  return {
    status: 200,
    body: {
      ...outcome,
      threadId,
      from: first.from,
      to: [...first.to],
      cc: [...first.cc],
      bcc: bcc.map(({ address }) => address),
      subject: first.subject,
      messageId: first.messageIdHeader,
      sendAt: timeOf(sendAt),
    },
  };
}

function answerOf(
  { messageId: id, threadId, status, consentId, overBudget, sendAt }: Submitted,
  letter: Omit<Static<typeof SentMessage>, 'id' | 'threadId' | 'status' | 'sendAt' | 'repeated'>,
): Reply {
  const shown = { id, ...letter, sendAt: timeOf(sendAt), repeated: false as const };
  if (consentId !== null)
    return {
      status: 202,
      body: {
        ...shown,
        status: 'consent_pending',
        consentId,
        message: overBudget === null ? HELD_SENTENCE : `${HELD_SENTENCE} ${OVER_BUDGET_SENTENCES[overBudget]}`,
      },
    };
  return { status: 201, body: { ...shown, threadId, status } };
}

/** The recipients a request names. */
export const named = (body: { to?: string | string[]; cc?: string | string[]; bcc?: string | string[] }) => ({
  to: readAddresses(body.to ?? [], '/to'),
  cc: readAddresses(body.cc ?? [], '/cc'),
  bcc: readAddresses(body.bcc ?? [], '/bcc'),
});

const readsMail = (principal: Principal): boolean =>
  principal.kind !== 'mailbox' || tokenAllows(principal.access, 'read');

/** A token that cannot read must not read stored mail by sending it to itself. @throws {CatalogueError} insufficient_scope */
function refuseReading(principal: Principal, { attachments = [] }: Static<typeof SendMessage>): void {
  if (readsMail(principal)) return;
  const at = attachments.findIndex(({ messageId }) => messageId !== undefined);
  if (at < 0) return;
  throw new CatalogueError('insufficient_scope', 'This mailbox token may only send: it cannot attach stored mail.', {
    details: [{ path: `/attachments/${at}/messageId`, message: 'needs a token with the access full' }],
  });
}

/** The mailbox that sends, read already when the token is its own. @throws {CatalogueError} not_found */
const senderOf = async (
  { services, organization, principal }: SendContext,
  mailboxId: string,
): Promise<EnvelopeMailbox> =>
  ownMailbox(principal, mailboxId) ?? (await requireMailbox(services.db, organization.id, mailboxId));

export async function sendMessage(
  context: SendContext,
  mailboxId: string,
  body: Static<typeof SendMessage>,
): Promise<Reply> {
  refuseReading(context.principal, body);
  const mailbox = await senderOf(context, mailboxId);
  const clientId = clientIdOf(context, ['send'], body);
  const earlier = await answeredBefore(context, mailbox.id, clientId);
  if (earlier !== undefined) return earlier;
  const own = await ownParts(context, mailbox, body);
  const letter = { ...own, subject: body.subject, inReplyTo: undefined, references: [] };
  return submit(context, mailbox, letter, body, clientId);
}

/** @throws {CatalogueError} not_found */
async function originalOf({ services }: SendContext, mailbox: EnvelopeMailbox, id: string): Promise<Original> {
  const message = await findMessage(services.db, mailbox.id, id);
  if (message === undefined) throw new CatalogueError('not_found');
  return { message, fields: await readHeader(services.db, message) };
}

export async function replyToMessage(
  context: SendContext,
  mailboxId: string,
  messageId: string,
  body: Static<typeof ReplyMessage>,
  all: boolean,
): Promise<Reply> {
  const mailbox = await senderOf(context, mailboxId);
  const clientId = clientIdOf(context, [all ? 'reply-all' : 'reply', messageId], body);
  const earlier = await answeredBefore(context, mailbox.id, clientId);
  if (earlier !== undefined) return earlier;
  const original = await originalOf(context, mailbox, messageId);
  const own = await ownParts(context, mailbox, body);
  const addresses = await findOwnAddresses(context.services.db, mailbox.id);
  return submit(context, mailbox, replyLetter(original, addresses, all, own), body, clientId);
}

export async function forwardMessage(
  context: SendContext,
  mailboxId: string,
  messageId: string,
  body: Static<typeof ForwardMessage>,
): Promise<Reply> {
  const mailbox = await senderOf(context, mailboxId);
  const clientId = clientIdOf(context, ['forward', messageId], body);
  const earlier = await answeredBefore(context, mailbox.id, clientId);
  if (earlier !== undefined) return earlier;
  const original = await originalOf(context, mailbox, messageId);
  const own = await ownParts(context, mailbox, body);
  return submit(context, mailbox, await forwardLetter(context.services.db, original, own), body, clientId);
}

/** @throws {CatalogueError} not_found */
export async function statusOfMessage(
  { services, organization }: Pick<SendContext, 'services' | 'organization'>,
  mailboxId: string,
  messageId: string,
): Promise<{ status: 200; body: Static<typeof MessageStatus> }> {
  const mailbox = await requireMailbox(services.db, organization.id, mailboxId);
  const message = await findOutbound(services.db, messageId);
  if (message === undefined || message.mailboxId !== mailbox.id) throw new CatalogueError('not_found');
  const recipients = await findRecipients(services.db, messageId);
  const consent =
    message.consentId === null ? undefined : await findConsent(services.db, organization.id, message.consentId);
  return {
    status: 200,
    body: {
      id: message.id,
      status: outboundStatusOf(message, recipients),
      consentId: message.consentId,
      submittedAt: message.submittedAt.toISOString(),
      sendAt: timeOf(message.sendAt),
      sentAt: timeOf(message.firstSentAt),
      finishedAt: timeOf(message.finishedAt),
      decision: consent === undefined ? null : presentDecision(decisionOf(consent)),
      stopped:
        message.state === 'sending' || (message.state === 'scheduled' && message.stoppedAt !== null)
          ? await stoppedBecause(services.db, mailbox.id)
          : null,
      recipients: recipients.map(({ address, status, code, reply, nextAttemptAt, updatedAt }) => ({
        address,
        status,
        code,
        reply,
        nextAttemptAt: timeOf(nextAttemptAt),
        updatedAt: updatedAt.toISOString(),
      })),
      attempts: (await findAttempts(services.db, messageId)).map(
        ({ recipients: to, startedAt, finishedAt, ...attempt }) => ({
          ...attempt,
          recipients: [...to],
          startedAt: startedAt.toISOString(),
          finishedAt: timeOf(finishedAt),
        }),
      ),
    },
  };
}
