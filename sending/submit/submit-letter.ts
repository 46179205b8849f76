/**
 * The use case of sending, for every entry point. MCP and the command line reach it through the API.
 *
 *   send, reply, forward   api/messages     ──▶ submitLetter: compose ──┐
 *   send a draft           api/drafts       ────────────────────────────┼──▶ submitBytes: prepare ─▶ submit ─▶ start
 *   SMTP submission        mail/submission  ────────────────────────────┘
 */
import type { ClientId } from '#core/platform/client-id.ts';
import { type Author, authorOf, hashOfLetter, type Letter, type LetterTerms } from '#sending/compose/answer-letter.ts';
import { checkHeaders, composeMessage, envelopeRecipients } from '#sending/compose/compose-message.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';
import type { Submitted } from '#sending/outbox/find-submitted.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import type { Submission } from './submission.ts';
import { submitMessage } from './submit-message.ts';

export interface SubmissionParts {
  readonly services: SendingServices;
  /** Starts the workflow after the commit. Without it the sweep of the API processes does. */
  readonly start: ((submitted: Submitted) => void | Promise<void>) | undefined;
}

/** The mailbox that sends. */
export interface SendingMailbox {
  readonly organizationId: string;
  readonly id: string;
  readonly address: string;
}

type Terms = Omit<Submission, 'organizationId' | 'mailboxId' | 'prepared'>;

export interface SubmittedBytes extends Submitted {
  /** Its Message-ID with brackets. */
  readonly messageIdHeader: string;
}

/**
 * Submits a message that is written already.
 *
 * @throws {CatalogueError} those of `prepareMessage` and `submitMessage`
 */
export async function submitBytes(
  { services, start }: SubmissionParts,
  mailbox: SendingMailbox,
  bytes: Uint8Array,
  terms: Terms,
): Promise<SubmittedBytes> {
  const prepared = prepareMessage(bytes, mailbox.address, new Date(services.now()));
  const { organizationId, id: mailboxId } = mailbox;
  const submitted = await submitMessage(services, { ...terms, organizationId, mailboxId, prepared });
  if (!submitted.repeated && !submitted.isFinished) await start?.(submitted);
  return { ...submitted, messageIdHeader: prepared.messageId };
}

/**
 * Composes a message of the mailbox from its parts and submits it.
 *
 * @throws {CatalogueError} invalid_request for parts that cannot be sent, and those of `submitBytes`
 */
export async function submitLetter(
  parts: SubmissionParts,
  mailbox: SendingMailbox & Author,
  letter: Letter,
  { onlyFor, clientId, ...terms }: Omit<Terms, 'recipients' | 'answers' | keyof LetterTerms> & LetterTerms,
): Promise<SubmittedBytes> {
  const { answers = null, omitted: _, ...content } = letter;
  const { sendAt } = terms;
  checkHeaders(content.headers);
  const recipients = envelopeRecipients([content.to, content.cc, content.bcc]);
  const bytes = await composeMessage({
    ...content,
    from: authorOf(mailbox),
    // Mail readers sort by it: a scheduled message has the date of its sending.
    ...(sendAt === null ? {} : { date: sendAt }),
  });
  const known: ClientId | null = clientId && {
    id: clientId.id,
    hashes: [...clientId.hashes, hashOfLetter(letter, { ...terms, onlyFor })],
  };
  return submitBytes(parts, mailbox, bytes, { ...terms, clientId: known, recipients, answers });
}
