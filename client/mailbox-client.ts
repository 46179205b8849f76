import { followStream, type StreamOptions } from './event-stream.ts';
import { FilesClient } from './files-client.ts';
import {
  type CallOptions,
  type ClientOptions,
  credentialHeaders,
  HttpTransport,
  type OrganizationCredential,
} from './http.ts';
import { type Download, OperationCall, type PagedList } from './operation-call.ts';
import type * as Api from './types.ts';

/** The token of the mailbox, `amt_…`; or a credential of its organization, with the id of the mailbox. */
export type MailboxCredential =
  | { readonly token: string; readonly mailboxId?: never }
  | (OrganizationCredential & { readonly token?: never; readonly mailboxId: string });

export type MailboxClientOptions = ClientOptions & MailboxCredential;

/** Api.Operations that send a message. */
type SubmitId = 'sendMessage' | 'replyToMessage' | 'replyToAllOfMessage' | 'forwardMessage' | 'sendDraft';

const WAIT_DEFAULT_SECONDS = 30;

/**
 * The mail of one mailbox. Every method rejects with {@link ApiError}.
 *
 *   const mailbox = new MailboxClient({ url: 'http://127.0.0.1:8080', token: 'amt_…' });
 *   for await (const { subject } of mailbox.listMessages({ unread: true })) console.log(subject);
 */
export class MailboxClient {
  readonly #http: HttpTransport;
  readonly #call: OperationCall;
  /** Files that are uploaded once and attached by their id. */
  readonly files: FilesClient;

  constructor(options: MailboxClientOptions) {
    const credential =
      options.token === undefined ? credentialHeaders(options) : { authorization: `Bearer ${options.token}` };
    this.#http = new HttpTransport(options, credential);
    this.#call = new OperationCall(this.#http, options.mailboxId);
    this.files = new FilesClient(this.#http, this.#call);
  }

  /** The mailbox itself: address, state, quota. */
  mailbox(options?: CallOptions): Promise<Api.Mailbox> {
    return this.#call.answer('getOwnMailbox', [], { options });
  }

  /** Settings for mail clients. */
  connection(options?: CallOptions): Promise<Api.Connection> {
    return this.#call.answer('getOwnMailboxConnection', [], { options });
  }

  /** Newest first. Mail labelled `unauthenticated` or `spam` is omitted unless `folder` or `label` asks for it. */
  listMessages(query: Api.MessagesQuery = {}, options?: CallOptions): PagedList<Api.MessageSummary> {
    return this.#call.list('listMessages', [], { query, options });
  }

  /** Answers as soon as messages match the filters, or with an empty list when the time is over. */
  waitForMessages(query: Api.WaitQuery = {}, options?: CallOptions): Promise<Api.WaitAnswer> {
    const { timeoutSeconds = WAIT_DEFAULT_SECONDS, after, since, consentId } = query;
    return this.#call.answer('waitForMessages', [], {
      query: { ...query, timeoutSeconds },
      extraTimeMs: timeoutSeconds * 1_000,
      // A second request without `after` would miss messages that arrived since the first one began.
      repeatable: after !== undefined || since !== undefined || consentId !== undefined,
      options,
    });
  }

  /** Messages that contain all words of `q`; `"a phrase"`, `-without` and `or` are supported. */
  searchMessages(query: Api.SearchQuery, options?: CallOptions): PagedList<Api.SearchHit> {
    return this.#call.list('searchMessages', [], { query, options });
  }

  /** Does not mark it as seen. */
  getMessage(id: string, query: Api.GetMessageQuery = {}, options?: CallOptions): Promise<Api.Message> {
    return this.#call.answer('getMessage', [id], { query, options });
  }

  /** The one-time code and the links of a message that is there already; of mail to come `waitForMessages` gives them. */
  getMessageExtracts(id: string, options?: CallOptions): Promise<Api.MessageExtracts> {
    return this.#call.answer('getMessageExtracts', [id], { options });
  }

  /** The message byte for byte. */
  getRawMessage(id: string, options?: CallOptions): Promise<Download> {
    return this.#call.download('getMessageRaw', [id], options);
  }

  /** The decoded attachment. */
  getAttachment(id: string, attachmentId: string, options?: CallOptions): Promise<Download> {
    return this.#call.download('getMessageAttachment', [id, attachmentId], options);
  }

  /** A page of the text of a PDF, DOCX, XLSX, PPTX, HTML, CSV or plain text. */
  getAttachmentText(
    id: string,
    attachmentId: string,
    query: Api.GetAttachmentTextQuery = {},
    options?: CallOptions,
  ): Promise<Api.AttachmentText> {
    return this.#call.answer('getAttachmentText', [id, attachmentId], { query, options });
  }

  /** Omitted fields do not change. */
  updateMessage(id: string, change: Api.MessageChange, options?: CallOptions): Promise<Api.MessageSummary> {
    return this.#call.answer('updateMessage', [id], { body: change, options });
  }

  /** Changes or deletes many messages, named by their ids or by the filters of the list; all or none. */
  changeMessages(change: Api.BulkMessageChange, options?: CallOptions): Promise<Api.BulkMessageResult> {
    return this.#call.answer('changeMessages', [], { body: change, options });
  }

  /** Moves it to the trash; out of the trash, or with `permanent`, it is removed for good. */
  async deleteMessage(
    id: string,
    { permanent = false }: { readonly permanent?: boolean } = {},
    options?: CallOptions,
  ): Promise<void> {
    await this.#call.answer('deleteMessage', [id], {
      query: permanent ? { permanent } : {},
      // The second of two would find the message in the trash and remove it for good.
      repeatable: false,
      options,
    });
  }

  sendMessage(message: Api.NewMessage, options?: CallOptions): Promise<Api.Submitted> {
    return this.#submit('sendMessage', [], message, options);
  }

  /** To the message's Reply-To, else its From; `omitted` in the answer lists addresses that do not get it. */
  reply(id: string, message: Api.AnswerMessage, options?: CallOptions): Promise<Api.Submitted> {
    return this.#submit('replyToMessage', [id], message, options);
  }

  replyAll(id: string, message: Api.AnswerMessage, options?: CallOptions): Promise<Api.Submitted> {
    return this.#submit('replyToAllOfMessage', [id], message, options);
  }

  /** With its text quoted and the whole message attached. */
  forward(id: string, message: Api.Forward, options?: CallOptions): Promise<Api.Submitted> {
    return this.#submit('forwardMessage', [id], message, options);
  }

  /** The status of an outgoing message and of each recipient. */
  messageStatus(id: string, options?: CallOptions): Promise<Api.MessageStatus> {
    return this.#call.answer('getMessageStatus', [id], { options });
  }

  /** Messages that are held, scheduled or queued, and those decided or failed within 24 hours; newest first. */
  listOutbox(query: Api.ListOutboxQuery = {}, options?: CallOptions): PagedList<Api.OutboxMessage> {
    return this.#call.list('listOutbox', [], { query, options });
  }

  /** Withdraws a message that has reached nobody; the draft it was made from is restored. */
  withdraw(id: string, options?: CallOptions): Promise<Api.WithdrawnMessage> {
    // The second of two would be a conflict, although the first one did it.
    return this.#call.answer('withdrawMessage', [id], { repeatable: false, options });
  }

  /** Its further addresses, newest first; without those that were dropped. */
  listAliases(query: Api.ListAliasesQuery = {}, options?: CallOptions): PagedList<Api.Alias> {
    return this.#call.list('listAliases', [], { query, options });
  }

  /** An address for one service, say: random, unless `localPart` or `tag` is given. */
  createAlias(alias: Api.NewAlias = {}, options?: CallOptions): Promise<Api.Alias> {
    return this.#call.answer('createAlias', [], { body: alias, options });
  }

  /** Omitted fields do not change. */
  updateAlias(id: string, changes: Api.AliasChanges, options?: CallOptions): Promise<Api.Alias> {
    return this.#call.answer('updateAlias', [id], { body: changes, options });
  }

  /** Mail to the address is refused from then on. */
  async dropAlias(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('dropAlias', [id], { options });
  }

  /** Newest first. */
  listDrafts(query: Api.ListDraftsQuery = {}, options?: CallOptions): PagedList<Api.DraftSummary> {
    return this.#call.list('listDrafts', [], { query, options });
  }

  createDraft(draft: Api.NewDraft = {}, options?: CallOptions): Promise<Api.CreatedDraft> {
    return this.#call.answer('createDraft', [], { body: draft, options });
  }

  getDraft(id: string, options?: CallOptions): Promise<Api.Draft> {
    return this.#call.answer('getDraft', [id], { options });
  }

  /** Omitted fields do not change; null removes a part. */
  updateDraft(id: string, changes: Api.DraftChanges, options?: CallOptions): Promise<Api.Draft> {
    return this.#call.answer('updateDraft', [id], { body: changes, options });
  }

  async deleteDraft(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteDraft', [id], { options });
  }

  /** Sends a draft, which then is one no more. */
  sendDraft(id: string, sending: Api.DraftSending = {}, options?: CallOptions): Promise<Api.Submitted> {
    return this.#submit('sendDraft', [id], sending, options);
  }

  listThreads(query: Api.ListThreadsQuery = {}, options?: CallOptions): PagedList<Api.ThreadSummary> {
    return this.#call.list('listThreads', [], { query, options });
  }

  getThread(id: string, options?: CallOptions): Promise<Api.Thread> {
    return this.#call.answer('getThread', [id], { options });
  }

  async listFolders(options?: CallOptions): Promise<readonly Api.Folder[]> {
    return (await this.#call.answer('listFolders', [], { options })).data;
  }

  /**
   * Changes of the mailbox by any protocol as they happen, across lost connections; ends when the signal aborts, or after
   * `closed`. Store the `id` of an event to continue after it later.
   *
   *   for await (const { name, data } of mailbox.events()) if (name === 'messages_added') console.log(data.messages);
   */
  events(options: StreamOptions = {}): AsyncGenerator<Api.StreamEventsEvent, void, undefined> {
    return followStream<Api.StreamEventsEvent>(this.#http, this.#call.request('streamEvents', []), options);
  }

  async #submit<Id extends SubmitId>(
    operation: Id,
    params: Api.Operations[Id]['params'],
    body: Api.Operations[Id]['body'],
    options: CallOptions | undefined,
  ): Promise<Api.Submitted> {
    const request = { ...this.#call.request(operation, params), body, options };
    const { body: answer } = await this.#http.json<Api.Operations[SubmitId]['answer']>(request);
    const held = answer.status === 'consent_pending';
    return { held, ...answer } as Api.Submitted;
  }
}
