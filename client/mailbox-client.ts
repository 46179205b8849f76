import { type CallOptions, type ClientOptions, HttpTransport, type QueryValue } from './http.ts';
import type {
  AnswerMessage,
  Connection,
  Download,
  Folder,
  HeldMessage,
  Mailbox,
  Message,
  MessageChange,
  MessageStatus,
  MessageSummary,
  MessagesQuery,
  NewMessage,
  Page,
  PageQuery,
  SearchHit,
  SearchQuery,
  SentMessage,
  Submitted,
  Thread,
  ThreadSummary,
  WaitAnswer,
  WaitQuery,
} from './types.ts';

export interface MailboxClientOptions extends ClientOptions {
  /** Mailbox token, `amt_…`. */
  readonly token: string;
}

const HELD_STATUS = 202;
const WAIT_DEFAULT_SECONDS = 30;
const MESSAGES = '/api/mailbox/messages';

const messagePath = (id: string, rest = ''): string => `${MESSAGES}/${encodeURIComponent(id)}${rest}`;

/**
 * The mail of one mailbox, opened by its token. Every method rejects with {@link ApiError}.
 *
 *   const mailbox = new MailboxClient({ url: 'http://127.0.0.1:8080', token: 'amt_…' });
 *   for (const { subject } of (await mailbox.listMessages({ unread: true })).data) console.log(subject);
 */
export class MailboxClient {
  readonly #http: HttpTransport;

  constructor({ token, ...options }: MailboxClientOptions) {
    this.#http = new HttpTransport(options, { authorization: `Bearer ${token}` });
  }

  /** The mailbox itself: address, state, quota. */
  mailbox(options?: CallOptions): Promise<Mailbox> {
    return this.#get('/api/mailbox', {}, options);
  }

  /** Settings for mail clients. */
  connection(options?: CallOptions): Promise<Connection> {
    return this.#get('/api/mailbox/connection', {}, options);
  }

  /** Newest first. Mail labelled `unauthenticated` or `spam` is left out unless `folder` or `label` asks for it. */
  listMessages(query: MessagesQuery = {}, options?: CallOptions): Promise<Page<MessageSummary>> {
    return this.#get(MESSAGES, { ...query }, options);
  }

  /** Answers as soon as messages come in that the filters let through, or empty when the time is over. */
  async waitForMessages(query: WaitQuery = {}, options?: CallOptions): Promise<WaitAnswer> {
    const { timeoutSeconds = WAIT_DEFAULT_SECONDS, after, since } = query;
    const { body } = await this.#http.json<WaitAnswer>({
      method: 'GET',
      path: `${MESSAGES}/wait`,
      query: { ...query, timeoutSeconds },
      extraTimeMs: timeoutSeconds * 1_000,
      // A second request that begins now would miss what came in since the first one began.
      repeatable: after !== undefined || since !== undefined,
      options,
    });
    return body;
  }

  /** Messages that hold all the words of `q`; `"a phrase"`, `-without` and `or` are understood. */
  searchMessages(query: SearchQuery, options?: CallOptions): Promise<Page<SearchHit>> {
    return this.#get(`${MESSAGES}/search`, { ...query }, options);
  }

  /** Does not mark it as seen. */
  getMessage(
    id: string,
    query: { readonly format?: 'full' | 'text' | 'metadata' } = {},
    options?: CallOptions,
  ): Promise<Message> {
    return this.#get(messagePath(id), { ...query }, options);
  }

  /** The message byte for byte. */
  getRawMessage(id: string, options?: CallOptions): Promise<Download> {
    return this.#download(messagePath(id, '/raw'), options);
  }

  /** The decoded attachment. */
  getAttachment(id: string, attachmentId: string, options?: CallOptions): Promise<Download> {
    return this.#download(messagePath(id, `/attachments/${encodeURIComponent(attachmentId)}`), options);
  }

  /** What is left out stays. */
  async updateMessage(id: string, change: MessageChange, options?: CallOptions): Promise<MessageSummary> {
    const { body } = await this.#http.json<MessageSummary>({
      method: 'PATCH',
      path: messagePath(id),
      body: change,
      options,
    });
    return body;
  }

  /** Moves it to the trash; out of the trash, or with `permanent`, it is removed for good. */
  async deleteMessage(
    id: string,
    { permanent = false }: { readonly permanent?: boolean } = {},
    options?: CallOptions,
  ): Promise<void> {
    await this.#http.json({
      method: 'DELETE',
      path: messagePath(id),
      query: { permanent: permanent || undefined },
      // The second of two would find the message in the trash and remove it for good.
      repeatable: false,
      options,
    });
  }

  sendMessage(message: NewMessage, options?: CallOptions): Promise<Submitted> {
    return this.#submit(MESSAGES, message, options);
  }

  /** To the message's Reply-To, else its From; `omitted` of the answer lists who does not get it. */
  reply(id: string, message: AnswerMessage, options?: CallOptions): Promise<Submitted> {
    return this.#submit(messagePath(id, '/reply'), message, options);
  }

  replyAll(id: string, message: AnswerMessage, options?: CallOptions): Promise<Submitted> {
    return this.#submit(messagePath(id, '/reply-all'), message, options);
  }

  /** With its text quoted and the whole message attached. */
  forward(id: string, message: AnswerMessage, options?: CallOptions): Promise<Submitted> {
    return this.#submit(messagePath(id, '/forward'), message, options);
  }

  /** How far an outgoing message is, with each of its recipients. */
  messageStatus(id: string, options?: CallOptions): Promise<MessageStatus> {
    return this.#get(messagePath(id, '/status'), {}, options);
  }

  listThreads(query: PageQuery = {}, options?: CallOptions): Promise<Page<ThreadSummary>> {
    return this.#get('/api/mailbox/threads', { ...query }, options);
  }

  getThread(id: string, options?: CallOptions): Promise<Thread> {
    return this.#get(`/api/mailbox/threads/${encodeURIComponent(id)}`, {}, options);
  }

  async listFolders(options?: CallOptions): Promise<readonly Folder[]> {
    return (await this.#get<{ data: readonly Folder[] }>('/api/mailbox/folders', {}, options)).data;
  }

  async #get<Body>(
    path: string,
    query: Readonly<Record<string, QueryValue>>,
    options: CallOptions | undefined,
  ): Promise<Body> {
    return (await this.#http.json<Body>({ method: 'GET', path, query, options })).body;
  }

  async #submit(path: string, message: AnswerMessage, options: CallOptions | undefined): Promise<Submitted> {
    const { status, body } = await this.#http.json<unknown>({ method: 'POST', path, body: message, options });
    return status === HELD_STATUS
      ? { held: true, ...(body as HeldMessage) }
      : { held: false, ...(body as SentMessage) };
  }

  async #download(path: string, options: CallOptions | undefined): Promise<Download> {
    const { bytes, headers } = await this.#http.bytes({ method: 'GET', path, options });
    return {
      bytes,
      contentType: headers.get('content-type') ?? 'application/octet-stream',
      filename: filenameOf(headers.get('content-disposition')),
    };
  }
}

/** The name in UTF-8 (RFC 6266, RFC 8187), without any folder it might carry. */
function filenameOf(disposition: string | null): string | null {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '') ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded).split(/[\\/]/).at(-1) || null;
  } catch {
    return null;
  }
}
