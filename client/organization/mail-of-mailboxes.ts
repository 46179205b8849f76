import type {
  ListMessagesOfMailboxesQuery,
  ListThreadsOfMailboxesQuery,
  MessageSummary,
  SearchHit,
  SearchMessagesOfMailboxesQuery,
  ThreadSummary,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** The mail of all mailboxes that the credential has access to, or of a group of them, in one list, newest first. */
export class MailOfMailboxes {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  /** Lists messages in INBOX, unless `folder` or `label` is given. */
  messages(query: ListMessagesOfMailboxesQuery = {}, options?: CallOptions): PagedList<MessageSummary> {
    return this.#call.list('listMessagesOfMailboxes', [], { query, options });
  }

  /** Messages that contain all the words. */
  search(query: SearchMessagesOfMailboxesQuery, options?: CallOptions): PagedList<SearchHit> {
    return this.#call.list('searchMessagesOfMailboxes', [], { query, options });
  }

  threads(query: ListThreadsOfMailboxesQuery = {}, options?: CallOptions): PagedList<ThreadSummary> {
    return this.#call.list('listThreadsOfMailboxes', [], { query, options });
  }
}
