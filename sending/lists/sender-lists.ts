/**
 * Allow and block lists. An entry is an address or a domain (its subdomains are others), for one mailbox or for all of
 * the organization. The nearest entry decides: mailbox before organization, address before domain, allow before block.
 */

import { recordAudit } from '#core/organizations/audit.ts';
import { requireAllowedAhead } from '#core/organizations/decision-rules.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { domainNameProblem } from '#domain/mail/domain-names.ts';
import { domainOf, isEmailAddress } from '#domain/mail/mailbox-address.ts';

export const LIST_DIRECTIONS = ['inbound', 'outbound'] as const;
export type ListDirection = (typeof LIST_DIRECTIONS)[number];
export const LIST_ACTIONS = ['allow', 'block'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** One of the four lists of an organization. */
interface ListName {
  readonly organizationId: string;
  readonly direction: ListDirection;
  readonly action: ListAction;
}

export interface ListEntry {
  readonly id: string;
  readonly mailboxId: string | null;
  /** An address or a domain, in lower case. */
  readonly value: string;
  readonly createdAt: Date;
}

const ENTRY = `id, mailbox_id as "mailboxId", value, created_at as "createdAt"`;

/** Newest first; one more than `limit`. */
export const listEntries = (
  sql: Sql,
  { organizationId, direction, action }: ListName,
  page: { readonly limit: number; readonly after: string | null },
): Promise<ListEntry[]> =>
  sql.query<ListEntry>(
    `select ${ENTRY} from sender_list
      where organization_id = $1 and direction = $2 and action = $3 and ($4::text is null or id < $4)
      order by id desc limit $5`,
    [organizationId, direction, action, page.after, page.limit + 1],
  );

/** @throws {CatalogueError} invalid_request; conflict when the value is on this list or its opposite already */
export async function addListEntry(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { organizationId, direction, action }: ListName,
  caller: Caller,
  entry: { readonly value: string; readonly mailboxId: string | null },
): Promise<ListEntry> {
  const value = withAsciiDomain(entry.value.trim().toLowerCase());
  if (!isEmailAddress(value) && domainNameProblem(value) !== undefined)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/value', message: 'must be an address or a domain' }],
    });
  return db.transaction(async (sql) => {
    if (direction === 'outbound' && action === 'allow')
      await requireAllowedAhead(sql, organizationId, [value], caller, now(), entry.mailboxId);
    const [row] = await sql.query<ListEntry>(
      `insert into sender_list (id, organization_id, mailbox_id, direction, action, value, created_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${ENTRY}`,
      [newId('listEntry'), organizationId, entry.mailboxId, direction, action, value, new Date(now())],
    );
    if (row === undefined)
      throw new CatalogueError('conflict', `${value} is on the allow or block list already.`, {
        details: [{ path: '/value', message: 'exists already' }],
        fix: 'If the entry is on the right list, do nothing. Otherwise delete it, then add this one.',
      });
    await recordAudit(sql, caller, {
      organizationId,
      action: 'list_entry.created',
      targetId: row.id,
      details: { direction, action, value, mailboxId: entry.mailboxId },
    });
    return row;
  });
}

/** @throws {CatalogueError} not_found */
export async function removeListEntry(
  { db }: Pick<Services, 'db'>,
  { organizationId, direction, action }: ListName,
  caller: Caller,
  id: string,
): Promise<void> {
  await db.transaction(async (sql) => {
    const [row] = await sql.query<ListEntry>(
      `delete from sender_list where organization_id = $1 and direction = $2 and action = $3 and id = $4 returning ${ENTRY}`,
      [organizationId, direction, action, id],
    );
    if (row === undefined) throw new CatalogueError('not_found');
    if (direction === 'outbound' && action === 'block') await requireDecider(sql, organizationId, caller);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'list_entry.deleted',
      targetId: id,
      details: { direction, action, value: row.value, mailboxId: row.mailboxId },
    });
  });
}

export interface ListVerdict {
  readonly action: ListAction;
  /** The entry that decided. */
  readonly value: string;
}

export interface ListQuestion {
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly direction: ListDirection;
  /** Address of the other party. */
  readonly addresses: readonly string[];
}

/** The result of the lists for addresses; addresses without a matching entry are omitted. Keys are lower-cased. */
export async function askLists(sql: Sql, question: ListQuestion): Promise<ListVerdicts> {
  const [verdicts] = await askListsTogether(sql, [question]);
  return verdicts ?? new Map();
}

/**
 * The same for many concurrent callers: questions that arrive while a statement runs are combined in the next one. Each
 * answer is read after its question arrived, so an entry applies from its commit on.
 */
export const listAsker = (sql: Sql): ((question: ListQuestion) => Promise<ListVerdicts>) =>
  batcher<ListQuestion, ListVerdicts>({
    policy: inOrder(QUESTIONS_AT_ONCE),
    concurrency: 1,
    carryOut: (questions) => askListsTogether(sql, questions),
  }).add;

const QUESTIONS_AT_ONCE = 100;

type ListVerdicts = Map<string, ListVerdict>;

/** @returns answers in the order of the questions */
async function askListsTogether(sql: Sql, questions: readonly ListQuestion[]): Promise<ListVerdicts[]> {
  const verdicts = questions.map((): ListVerdicts => new Map());
  const asked = questions.flatMap(({ organizationId, mailboxId, direction, addresses }, question) =>
    [...new Set(addresses.map((address) => address.toLowerCase()))].map((address) => {
      const value = withAsciiDomain(address);
      return { question, address, value, domain: domainOf(value), organizationId, mailboxId, direction };
    }),
  );
  if (asked.length === 0) return verdicts;
  const rows = await sql.query<{ number: number; action: ListAction; value: string }>(ASK_LISTS, [
    asked.map(({ value }) => value),
    asked.map(({ domain }) => domain),
    asked.map(({ organizationId }) => organizationId),
    asked.map(({ mailboxId }) => mailboxId),
    asked.map(({ direction }) => direction),
  ]);
  for (const { number, action, value } of rows) {
    const about = asked[number - 1];
    if (about !== undefined) verdicts[about.question]?.set(about.address, { action, value });
  }
  return verdicts;
}

/** Called for every mail: LATERAL with LIMIT keeps the plan on the index of the organization's lists. */
const ASK_LISTS = `
  select asked.number, entry.action, entry.value
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
           with ordinality as asked (value, domain, organization_id, mailbox_id, direction, number)
   cross join lateral (
     select action, value from sender_list
      where organization_id = asked.organization_id and (mailbox_id is null or mailbox_id = asked.mailbox_id)
        and direction = asked.direction and value in (asked.value, asked.domain)
      order by mailbox_id is null, value = asked.domain, action
      limit 1) as entry`;
