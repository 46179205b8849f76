import type { Page } from './types.ts';

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
