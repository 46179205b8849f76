/**
 * Operations of the API by their ids: their requests, answers, downloads, and lists of several pages.
 */
import { OPERATIONS, type Operations } from './api-types.ts';
import type { CallOptions, HttpRequest, HttpTransport, QueryValue } from './http.ts';

type OperationId = keyof Operations;
export type Query<Id extends OperationId> = NonNullable<Operations[Id]['query']>;
export type Body<Id extends OperationId> = NonNullable<Operations[Id]['body']>;
export type Answer<Id extends OperationId> = Operations[Id]['answer'];

/** Operations that answer a page of a list. */
type ListId = {
  [Id in OperationId]: Answer<Id> extends Page<unknown> ? Id : never;
}[OperationId];
type ItemOf<Id extends ListId> = Answer<Id>['data'][number];

type Input<Id extends OperationId> = {
  readonly query?: Operations[Id]['query'];
  readonly options?: CallOptions | undefined;
  readonly repeatable?: boolean;
  readonly extraTimeMs?: number;
} & (undefined extends Operations[Id]['body']
  ? { readonly body?: Operations[Id]['body'] }
  : { readonly body: Operations[Id]['body'] });

/** A page of a list; `nextCursor` is given back as `cursor` for the next page, null at the end. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

/** Bytes of a download, with the data of its headers. */
export interface Download {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly filename: string | null;
}

const OWN_MAILBOX = '/api/mailbox';

/**
 * Calls operations of the API by their ids, with one credential.
 *
 * With `mailboxId` the operations of the own mailbox, `/api/mailbox/…`, are asked at `/api/mailboxes/<id>/…`, where an
 * API key and a session find them.
 */
export class OperationCall {
  readonly #http: HttpTransport;
  readonly #mailbox: string;

  constructor(http: HttpTransport, mailboxId?: string) {
    this.#http = http;
    this.#mailbox = mailboxId === undefined ? OWN_MAILBOX : `/api/mailboxes/${encodeURIComponent(mailboxId)}`;
  }

  /** The request of an operation. */
  request<Id extends OperationId>(id: Id, params: Operations[Id]['params'], input?: Partial<Input<Id>>): HttpRequest {
    const [method, template] = OPERATIONS[id].split(' ') as [HttpRequest['method'], string];
    const values: readonly string[] = params;
    let next = 0;
    const path = template.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values[next++] ?? ''));
    const { query, ...rest } = input ?? {};
    return {
      ...rest,
      method,
      path:
        path === OWN_MAILBOX || path.startsWith(`${OWN_MAILBOX}/`) ? path.replace(OWN_MAILBOX, this.#mailbox) : path,
      query: { ...(query as Readonly<Record<string, QueryValue>> | undefined) },
    };
  }

  /** @throws {ApiError} */
  async answer<Id extends OperationId>(
    id: Id,
    params: Operations[Id]['params'],
    input?: Input<Id>,
  ): Promise<Answer<Id>> {
    return (await this.#http.json<Answer<Id>>(this.request(id, params, input))).body;
  }

  /** @throws {ApiError} */
  async download<Id extends OperationId>(
    id: Id,
    params: Operations[Id]['params'],
    options: CallOptions | undefined,
  ): Promise<Download> {
    const { bytes, headers } = await this.#http.bytes({ ...this.request(id, params), options });
    return {
      bytes,
      contentType: headers.get('content-type') ?? 'application/octet-stream',
      filename: filenameOf(headers.get('content-disposition')),
    };
  }

  /** A list: await it for one page, iterate over it for all items. */
  list<Id extends ListId>(id: Id, params: Operations[Id]['params'], input: Partial<Input<Id>> = {}) {
    return new PagedList<ItemOf<Id>>(async (cursor) => {
      const query = cursor === undefined ? input.query : { ...input.query, cursor };
      return (await this.#http.json<Answer<Id>>(this.request(id, params, { ...input, query }))).body;
    });
  }
}

/**
 * A list of the API. Awaited it is one page; iterated over it is every item, and pages are fetched as they are needed:
 *
 *   const { data, nextCursor } = await mailbox.listMessages({ limit: 20 });
 *   for await (const message of mailbox.listMessages({ unread: true })) console.log(message.subject);
 *
 * Nothing is asked before either of the two.
 */
export class PagedList<Item> implements Promise<Page<Item>>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'PagedList';
  readonly #fetch: (cursor: string | undefined) => Promise<Page<Item>>;
  #first: Promise<Page<Item>> | undefined;

  /** @param fetch a page; undefined: the one that the caller asked for */
  constructor(fetch: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#fetch = fetch;
  }

  /** The page that was asked for. */
  page(): Promise<Page<Item>> {
    this.#first ??= this.#fetch(undefined);
    return this.#first;
  }

  then<Value = Page<Item>, Reason = never>(
    onPage?: ((page: Page<Item>) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    return this.page().then(onPage, onError);
  }

  catch<Reason = never>(
    onError?: ((error: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Page<Item> | Reason> {
    return this.page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page<Item>> {
    return this.page().finally(onEnd);
  }

  /** Pages, beginning with the one that was asked for. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let page = await this.page();
    yield page;
    while (page.nextCursor !== null) {
      page = await this.#fetch(page.nextCursor);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}

/** Operations about one thing, with one credential. */
export abstract class OperationGroup {
  protected readonly call: OperationCall;

  constructor(call: OperationCall) {
    this.call = call;
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
