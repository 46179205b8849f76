/** Types of requests and answers. All of the API are in api-types.ts; here are those that the client itself makes. */
import type {
  ConsentApproval,
  HeldMessage,
  ListMessagesQuery,
  MailConnection,
  MessageChanges,
  OneTimeCodeCandidate,
  RepeatedMessage,
  Reply,
  SearchMessagesQuery,
  SentMessage,
  WaitForMessagesQuery,
} from './api-types.ts';

export type * from './api-types.ts';
export type { Download, Page } from './operation-call.ts';

export type MessagesQuery = ListMessagesQuery;
export type WaitQuery = WaitForMessagesQuery;
export type SearchQuery = SearchMessagesQuery;
export type MessageChange = MessageChanges;
export type Connection = MailConnection;
export type CodeCandidate = OneTimeCodeCandidate;
export type ConsentScope = ConsentApproval['scope'];

/** The fields of replies and forwards. */
export type AnswerMessage = Reply;

/**
 * The outcome of a submitted message. A message that waits for a person's consent (`held`) is no failure, and neither is
 * one that was submitted before with the same `clientId` or draft (`repeated`): nothing was sent then.
 */
export type Submitted =
  | ({ readonly held: false } & SentMessage)
  | ({ readonly held: true } & HeldMessage)
  | ({ readonly held: false; readonly consentId: null } & RepeatedMessage)
  | ({ readonly held: true; readonly consentId: string } & RepeatedMessage);
