/**
 * What changed in organizations, for streams: one statement per poll and process, whatever the number of streams.
 *
 *   triggers ─▶ organization_change ─▶ look (while there are subscribers) ─▶ subscribers of the organization
 *
 * A position in the order of changes is a transaction id: all rows below it are committed or never will be. Changes are
 * names and ids, so several changes of one thing between two polls are one change.
 */

import { reasonOf } from '#core/platform/error-reason.ts';
import type { Services } from '#core/platform/services.ts';
import type { Database, Sql } from '#db/database.ts';
import {
  ORGANIZATION_CHANGE_MAILBOXES_NAMED,
  ORGANIZATION_CHANGES_AT_ONCE,
  ORGANIZATION_CHANGES_LOOK_MS,
  type OrganizationChangeKind,
} from '#domain/organization-stream.ts';

export interface OrganizationChange {
  readonly organizationId: string;
  readonly kind: OrganizationChangeKind;
  readonly mailboxId: string | null;
  /** Of messages: position of the first change in the log of the mailbox. */
  readonly subjectId: string | null;
  /** Of messages: their ids, where they were looked up. */
  readonly messageIds?: readonly string[];
}

/** Ids of the messages that changed in a mailbox; undefined: too many to name. */
export type NameMessages = (mailboxId: string, fromSeq: number) => Promise<readonly string[] | undefined>;

export interface ChangesRead {
  /** Everything before this place is among the changes, or was read before. */
  readonly place: string;
  readonly changes: readonly OrganizationChange[];
  /** There were too many to name. */
  readonly overflow: boolean;
}

/** The present place in the order of changes. */
export async function presentPlace(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ place: string }>(`select pg_snapshot_xmin(pg_current_snapshot())::text as place`);
  if (row === undefined) throw new Error('a snapshot without a row');
  return row.place;
}

/** As a stream's event id: the time shows whether the changes since then are still stored. @param nowMs Unix time */
export const changesId = (place: string, nowMs: number): string => `${place}-${nowMs}`;

/** Changes of these organizations from a place on, each once. */
export async function readChanges(sql: Sql, organizationIds: readonly string[], from: string): Promise<ChangesRead> {
  const rows = await sql.query<
    { place: string } & {
      [Key in 'organizationId' | 'kind' | 'mailboxId' | 'subjectId']: OrganizationChange[Key] | null;
    }
  >(READ, [organizationIds, from, ORGANIZATION_CHANGES_AT_ONCE + 1]);
  const place = rows[0]?.place ?? from;
  const changes = rows.flatMap(({ organizationId, kind, mailboxId, subjectId }) =>
    organizationId === null || kind === null ? [] : [{ organizationId, kind, mailboxId, subjectId }],
  );
  return { place, changes, overflow: changes.length > ORGANIZATION_CHANGES_AT_ONCE };
}

const SUBJECT = `case when kind = 'messages' then null else subject_id end`;

const READ = `
  with present as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as place)
  select p.place::text as place, c.organization_id as "organizationId", c.kind, c.mailbox_id as "mailboxId",
         c.subject_id as "subjectId"
    from present p left join lateral (
      select organization_id, kind, mailbox_id,
             coalesce(${SUBJECT}, (min(subject_id::bigint) filter (where kind = 'messages'))::text) as subject_id
        from organization_change
       where organization_id = any($1::text[]) and xid >= $2::text::xid8 and xid < p.place
       group by organization_id, kind, mailbox_id, ${SUBJECT}
       limit $3) c on true`;

export interface ChangesHub {
  /**
   * Calls `take` with the changes of an organization. Read the earlier ones after it resolves: no change is between
   * them.
   *
   * @returns stop
   */
  subscribe(organizationId: string, take: (read: ChangesRead) => void): Promise<() => void>;
}

const hubs = new WeakMap<Database, ChangesHub>();

/**
 * The instance of this process. @param nameMessages called once per mailbox and poll, whatever the number of streams
 */
export function changesHub({ db, log }: Pick<Services, 'db' | 'log'>, nameMessages: NameMessages): ChangesHub {
  const known = hubs.get(db);
  if (known !== undefined) return known;
  const subscribers = new Map<string, Set<(read: ChangesRead) => void>>();
  /** Where the next poll reads from; undefined without subscribers. */
  let place: Promise<string> | undefined;

  async function named(changes: readonly OrganizationChange[]): Promise<OrganizationChange[]> {
    let left = ORGANIZATION_CHANGE_MAILBOXES_NAMED;
    const done: OrganizationChange[] = [];
    for (const change of changes) {
      const { kind, mailboxId, subjectId } = change;
      if (kind !== 'messages' || mailboxId === null || subjectId === null || left-- <= 0) done.push(change);
      else {
        const messageIds = await nameMessages(mailboxId, Number(subjectId));
        done.push(messageIds === undefined ? change : { ...change, messageIds });
      }
    }
    return done;
  }

  async function look(): Promise<void> {
    try {
      if (place === undefined) return;
      const read = await readChanges(db, [...subscribers.keys()], await place);
      place = Promise.resolve(read.place);
      const byOrganization = Map.groupBy(await named(read.changes), ({ organizationId }) => organizationId);
      for (const [organizationId, takers] of subscribers) {
        const changes = byOrganization.get(organizationId) ?? [];
        for (const take of takers) take({ ...read, changes });
      }
    } catch (error) {
      // The next poll reads from the same position.
      log.debug({ reason: reasonOf(error) }, 'looking for changes of organizations failed; trying again');
    }
    // Without subscribers nothing is read: the next one starts from the current position.
    if (subscribers.size === 0) place = undefined;
    else setTimeout(() => void look(), ORGANIZATION_CHANGES_LOOK_MS).unref();
  }

  const hub: ChangesHub = {
    async subscribe(organizationId, take) {
      const takers = subscribers.get(organizationId) ?? new Set();
      subscribers.set(organizationId, takers.add(take));
      const stop = () => {
        takers.delete(take);
        if (takers.size === 0 && subscribers.get(organizationId) === takers) subscribers.delete(organizationId);
      };
      try {
        if (place === undefined) {
          const begun = presentPlace(db);
          place = begun;
          await begun;
          void look();
        } else await place;
        return stop;
      } catch (error) {
        place = undefined;
        stop();
        throw error;
      }
    },
  };
  hubs.set(db, hub);
  return hub;
}
