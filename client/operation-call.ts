import { OPERATIONS, type Operations } from './api-types.ts';
import type { CallOptions, HttpRequest, HttpTransport, QueryValue } from './http.ts';
import { PagedList } from './paged-list.ts';

export type OperationId = keyof Operations;
export type Query<Id extends OperationId> = NonNullable<Operations[Id]['query']>;
export type Body<Id extends OperationId> = NonNullable<Operations[Id]['body']>;
export type Answer<Id extends OperationId> = Operations[Id]['answer'];

/** Operations that answer a page of a list. */
type ListId = {
  [Id in OperationId]: Answer<Id> extends { readonly data: readonly unknown[]; readonly nextCursor: string | null }
    ? Id
    : never;
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

  /** A list: await it for one page, iterate over it for all items. */
  list<Id extends ListId>(id: Id, params: Operations[Id]['params'], input: Partial<Input<Id>> = {}) {
    return new PagedList<ItemOf<Id>>(async (cursor) => {
      const query = cursor === undefined ? input.query : { ...input.query, cursor };
      return (await this.#http.json<Answer<Id>>(this.request(id, params, { ...input, query }))).body;
    });
  }
}
