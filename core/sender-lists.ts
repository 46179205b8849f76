/**
 * Allow and block lists. An entry is an address or a domain (its subdomains are others), for one mailbox or for all of
 * the organization. The nearest entry decides: mailbox before organization, address before domain, allow before block.
 */
import type { Sql } from '../db/database.ts';
import { domainNameProblem } from '../domain/domain-name.ts';
import { domainOf, isEmailAddress } from '../domain/email-address.ts';
import { CatalogueError } from '../domain/errors.ts';
import { withAsciiDomain } from './ascii-domain.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { newId } from './new-id.ts';
import type { Services } from './services.ts';

export const LIST_DIRECTIONS = ['inbound', 'outbound'] as const;
export type ListDirection = (typeof LIST_DIRECTIONS)[number];
export const LIST_ACTIONS = ['allow', 'block'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** One of the four lists of an organization. */
export interface ListName {
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
    const [row] = await sql.query<ListEntry>(
      `insert into sender_list (id, organization_id, mailbox_id, direction, action, value, created_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${ENTRY}`,
      [newId('listEntry'), organizationId, entry.mailboxId, direction, action, value, new Date(now())],
    );
    if (row === undefined)
      throw new CatalogueError('conflict', `${value} is on the allow or block list already.`, {
        details: [{ path: '/value', message: 'is there already' }],
        fix: 'Nothing, if it is on the wanted list; otherwise delete the entry there is and add this one.',
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
  /** Of the other side. */
  readonly addresses: readonly string[];
}

/** What the lists say about addresses; those no entry matches are left out. Keys are lower-cased. */
export async function askLists(sql: Sql, question: ListQuestion): Promise<Map<string, ListVerdict>> {
  const addresses = [...new Set(question.addresses.map((address) => address.toLowerCase()))];
  if (addresses.length === 0) return new Map();
  const asked = addresses.map(withAsciiDomain);
  const rows = await sql.query<{ address: string; action: ListAction; value: string }>(ASK_LISTS, [
    addresses,
    asked,
    asked.map(domainOf),
    question.organizationId,
    question.mailboxId,
    question.direction,
  ]);
  return new Map(rows.map(({ address, action, value }) => [address, { action, value }]));
}

const ASK_LISTS = `
  select asked.address, entry.action, entry.value
    from unnest($1::text[], $2::text[], $3::text[]) as asked (address, ascii, domain)
   cross join lateral (
     select action, value from sender_list
      where organization_id = $4 and (mailbox_id is null or mailbox_id = $5) and direction = $6
        and value in (asked.ascii, asked.domain)
      order by mailbox_id is null, value = asked.domain, action
      limit 1) as entry`;
