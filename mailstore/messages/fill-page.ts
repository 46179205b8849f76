/** Pages of messages, newest first, of which only some are shown. */

export interface FilledPage<Row> {
  /** Newest first, at most `limit`. */
  readonly rows: readonly Row[];
  /** Where the next page begins: after this message. Null: there is none. */
  readonly next: string | null;
}

export interface PageOfMessages {
  readonly limit: number;
  /** Id of the message after which the page begins. */
  readonly after: string | null;
}

/** Messages that are examined for one page. */
const LOOKED_AT_MAX = 10_000;
/** The first portion is larger than the page, because a few messages may be left out. */
const PORTION_MORE = 16;
const PORTION_GROWTH = 4;
const PORTION_MAX = 5_000;

/** Ids of messages before one (null: the newest), newest first, so many at most; fewer only when there are no more. */
export type Candidates = (before: string | null, count: number) => Promise<readonly { readonly id: string }[]>;

interface Filling<Row> {
  readonly page: PageOfMessages;
  readonly candidates: Candidates;
  /** Of these messages those to be shown, newest first. */
  readonly passing: (ids: readonly string[]) => Promise<readonly Row[]>;
  readonly idOf: (row: Row) => string;
  /** Messages to examine. Default: {@link LOOKED_AT_MAX}. */
  readonly most?: number;
}

/** Examines messages from the newest on, in growing portions, until the page is full. */
export async function fillPage<Row>({
  page,
  candidates,
  passing,
  idOf,
  most = LOOKED_AT_MAX,
}: Filling<Row>): Promise<FilledPage<Row>> {
  const { limit, after } = page;
  const rows: Row[] = [];
  let from = after;
  let portion = limit + PORTION_MORE;
  for (let lookedAt = 0; lookedAt < most; ) {
    const given = await candidates(from, portion);
    const last = given.at(-1);
    if (last === undefined) return { rows, next: null };
    rows.push(...(await passing(given.map(({ id }) => id))));
    const end = rows[limit - 1];
    if (end !== undefined) {
      const more = rows.length > limit || given.length === portion;
      return { rows: rows.slice(0, limit), next: more ? idOf(end) : null };
    }
    if (given.length < portion) return { rows, next: null };
    from = last.id;
    lookedAt += given.length;
    portion = Math.min(PORTION_MAX, portion * PORTION_GROWTH);
  }
  return { rows, next: from };
}
