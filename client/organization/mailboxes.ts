import type { CallOptions } from '#client/http.ts';
import { OperationGroup, type PagedList } from '#client/operation-call.ts';
import type * as Api from '#client/types.ts';

/** The mailboxes of the organization. Their mail is read by `OrganizationClient.mailbox(id)`. */
export class Mailboxes extends OperationGroup {
  /** Newest first. */
  list(query: Api.ListMailboxesQuery = {}, options?: CallOptions): PagedList<Api.Mailbox> {
    return this.call.list('listMailboxes', [], { query, options });
  }

  /** The answer has the token of the mailbox, which is shown only once. */
  create(mailbox: Api.NewMailbox = {}, options?: CallOptions): Promise<Api.CreatedMailbox> {
    return this.call.answer('createMailbox', [], { body: mailbox, options });
  }

  get(id: string, options?: CallOptions): Promise<Api.Mailbox> {
    return this.call.answer('getMailbox', [id], { options });
  }

  /** Name, purpose, metadata, status, and the brakes of sending: mode and budgets. Omitted fields do not change. */
  update(id: string, changes: Api.MailboxChanges, options?: CallOptions): Promise<Api.Mailbox> {
    return this.call.answer('updateMailbox', [id], { body: changes, options });
  }

  /** With all its mail. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteMailbox', [id], { options });
  }

  /** Lists all tokens of a mailbox; the first token, made with the mailbox, is last. */
  async tokens(id: string, options?: CallOptions): Promise<readonly Api.MailboxToken[]> {
    return (await this.call.answer('listMailboxTokens', [id], { options })).data;
  }

  /** Creates a token for another program, with its own access and expiry. Only this answer contains the token. */
  createToken(id: string, token: Api.NewMailboxToken, options?: CallOptions): Promise<Api.MailboxTokenWithSecret> {
    return this.call.answer('createMailboxToken', [id], { body: token, options });
  }

  /** The token becomes invalid at once, and its connections are closed. */
  async revokeToken(id: string, tokenId: string, options?: CallOptions): Promise<void> {
    await this.call.answer('revokeMailboxToken', [id, tokenId], { options });
  }

  /** Replaces the first token, made with the mailbox. The old one becomes invalid at once. */
  rotateToken(id: string, options?: CallOptions): Promise<Api.MailboxWithToken> {
    return this.call.answer('rotateMailboxToken', [id], { options });
  }

  /** After the service paused it. */
  resumeSending(id: string, options?: CallOptions): Promise<Api.Mailbox> {
    return this.call.answer('resumeMailboxSending', [id], { options });
  }

  /** Texts to copy that connect programs to it. */
  snippets(id: string, options?: CallOptions): Promise<Api.ConnectionSnippetList> {
    return this.call.answer('listMailboxSnippets', [id], { options });
  }

  /** A mail from outside, to try it. For signed-in members. */
  sendTestMail(id: string, options?: CallOptions): Promise<Api.TestMail> {
    return this.call.answer('sendTestMail', [id], { options });
  }

  /** Lists the groups of mailboxes, with the unread messages of each. */
  groups(options?: CallOptions): Promise<Api.MailboxGroupList> {
    return this.call.answer('listMailboxGroups', [], { options });
  }

  /** By which protocols it was opened. */
  logins(id: string, options?: CallOptions): Promise<Api.MailboxLogins> {
    return this.call.answer('listMailboxLogins', [id], { options });
  }
}

/** The mail of all mailboxes that the credential has access to, or of a group of them, in one list, newest first. */
export class MailOfMailboxes extends OperationGroup {
  /** Lists messages in INBOX, unless `folder` or `label` is given. */
  messages(query: Api.ListMessagesOfMailboxesQuery = {}, options?: CallOptions): PagedList<Api.MessageSummary> {
    return this.call.list('listMessagesOfMailboxes', [], { query, options });
  }

  /** Messages that contain all the words. */
  search(query: Api.SearchMessagesOfMailboxesQuery, options?: CallOptions): PagedList<Api.SearchHit> {
    return this.call.list('searchMessagesOfMailboxes', [], { query, options });
  }

  threads(query: Api.ListThreadsOfMailboxesQuery = {}, options?: CallOptions): PagedList<Api.ThreadSummary> {
    return this.call.list('listThreadsOfMailboxes', [], { query, options });
  }
}
