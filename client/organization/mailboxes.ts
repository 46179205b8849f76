import type {
  ConnectionSnippetList,
  CreatedMailbox,
  ListMailboxesQuery,
  Mailbox,
  MailboxChanges,
  MailboxGroupList,
  MailboxLogins,
  MailboxToken,
  MailboxTokenWithSecret,
  MailboxWithToken,
  NewMailbox,
  NewMailboxToken,
  TestMail,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** The mailboxes of the organization. Their mail is read by `OrganizationClient.mailbox(id)`. */
export class Mailboxes {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  /** Newest first. */
  list(query: ListMailboxesQuery = {}, options?: CallOptions): PagedList<Mailbox> {
    return this.#call.list('listMailboxes', [], { query, options });
  }

  /** The answer has the token of the mailbox, which is shown only once. */
  create(mailbox: NewMailbox = {}, options?: CallOptions): Promise<CreatedMailbox> {
    return this.#call.answer('createMailbox', [], { body: mailbox, options });
  }

  get(id: string, options?: CallOptions): Promise<Mailbox> {
    return this.#call.answer('getMailbox', [id], { options });
  }

  /** Name, purpose, metadata, status, and the brakes of sending: mode and budgets. Omitted fields do not change. */
  update(id: string, changes: MailboxChanges, options?: CallOptions): Promise<Mailbox> {
    return this.#call.answer('updateMailbox', [id], { body: changes, options });
  }

  /** With all its mail. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteMailbox', [id], { options });
  }

  /** Lists all tokens of a mailbox; the first token, made with the mailbox, is last. */
  async tokens(id: string, options?: CallOptions): Promise<readonly MailboxToken[]> {
    return (await this.#call.answer('listMailboxTokens', [id], { options })).data;
  }

  /** Creates a token for another program, with its own access and expiry. Only this answer contains the token. */
  createToken(id: string, token: NewMailboxToken, options?: CallOptions): Promise<MailboxTokenWithSecret> {
    return this.#call.answer('createMailboxToken', [id], { body: token, options });
  }

  /** The token becomes invalid at once, and its connections are closed. */
  async revokeToken(id: string, tokenId: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('revokeMailboxToken', [id, tokenId], { options });
  }

  /** Replaces the first token, made with the mailbox. The old one becomes invalid at once. */
  rotateToken(id: string, options?: CallOptions): Promise<MailboxWithToken> {
    return this.#call.answer('rotateMailboxToken', [id], { options });
  }

  /** After the service paused it. */
  resumeSending(id: string, options?: CallOptions): Promise<Mailbox> {
    return this.#call.answer('resumeMailboxSending', [id], { options });
  }

  /** Texts to copy that connect programs to it. */
  snippets(id: string, options?: CallOptions): Promise<ConnectionSnippetList> {
    return this.#call.answer('listMailboxSnippets', [id], { options });
  }

  /** A mail from outside, to try it. For signed-in members. */
  sendTestMail(id: string, options?: CallOptions): Promise<TestMail> {
    return this.#call.answer('sendTestMail', [id], { options });
  }

  /** Lists the groups of mailboxes, with the unread messages of each. */
  groups(options?: CallOptions): Promise<MailboxGroupList> {
    return this.#call.answer('listMailboxGroups', [], { options });
  }

  /** By which protocols it was opened. */
  logins(id: string, options?: CallOptions): Promise<MailboxLogins> {
    return this.#call.answer('listMailboxLogins', [id], { options });
  }
}
