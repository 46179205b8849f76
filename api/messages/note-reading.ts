/** Notes which senders' mail an answer shows to an agent (`mailstore/messages/note-read-senders.ts`). People are not noted. */
import type { Principal } from '#api/http/principal.ts';
import type { Services } from '#core/platform/process/services.ts';
import {
  type MailReader,
  noteReadMessages,
  noteReadSenders,
  OWN_TOKEN,
  type ReadMail,
} from '#mailstore/messages/note-read-senders.ts';

export interface ReadingRequest {
  readonly services: Services;
  readonly principal: Principal;
}

/** Undefined: a person reads. */
const readerOf = (principal: Principal): MailReader | undefined =>
  principal.kind === 'mailbox' ? OWN_TOKEN : principal.kind === 'api_key' ? principal.id : undefined;

/** Call it before the answer leaves. @returns the messages */
export async function noteReading<Read extends ReadMail>(
  { services, principal }: ReadingRequest,
  messages: readonly Read[],
): Promise<readonly Read[]> {
  const reader = readerOf(principal);
  if (reader !== undefined) await noteReadSenders(services.db, reader, messages);
  return messages;
}

/** The same, of messages of which only the ids are at hand. */
export async function noteReadingOf(
  { services, principal }: ReadingRequest,
  mailboxIds: readonly string[],
  messageIds: readonly string[],
): Promise<void> {
  const reader = readerOf(principal);
  if (reader !== undefined) await noteReadMessages(services.db, reader, mailboxIds, messageIds);
}
