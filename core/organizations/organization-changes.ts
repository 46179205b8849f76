/**
 * What changed in organizations, for streams: one statement per poll and process, whatever the number of streams.
 *
 *   triggers ─▶ organization_change ─▶ look (while there are subscribers) ─▶ subscribers of the organization
 *
 * A position in the order of changes is a transaction id: all rows below it are committed or never will be. Changes are
 * names and ids, so several changes of one thing between two polls are one change.
 */

import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database, Sql } from '#db/database.ts';
import {
  ORGANIZATION_CHANGE_MAILBOXES_NAMED,
  ORGANIZATION_CHANGES_AT_ONCE,
  ORGANIZATION_CHANGES_LOOK_MS,
  type OrganizationChangeKind,
} from '#domain/webhooks/organization-stream.ts';

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

/** An organization and the place from which its changes are read. */
export interface ReadFrom {
  readonly organizationId: string;
  readonly place: string;
}

/** Changes of these organizations, each from its place on, each once. @param from at least one */
export async function readChanges(sql: Sql, from: readonly ReadFrom[]): Promise<ChangesRead> {
  const rows = await sql.query<
    { place: string } & {
      [Key in 'organizationId' | 'kind' | 'mailboxId' | 'subjectId']: OrganizationChange[Key] | null;
    }
  >(READ, [
    from.map(({ organizationId }) => organizationId),
    from.map(({ place }) => place),
    ORGANIZATION_CHANGES_AT_ONCE + 1,
  ]);
  const place = rows[0]?.place;
  if (place === undefined) throw new Error('a snapshot without a row');
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
        from unnest($1::text[], $2::text[]) as wanted(organization_id, place)
        join organization_change using (organization_id)
       where xid >= wanted.place::xid8 and xid < p.place
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

/** An organization with subscribers in this process. */
interface Watched {
  readonly takers: Set<(read: ChangesRead) => void>;
  /**
   * The changes before it were given to the subscribers. It advances only together with them: a poll that fails, or
   * that began before the organization was watched, leaves it where it is.
   */
  place: string | undefined;
}

const hubs = new WeakMap<Database, ChangesHub>();

/**
 * The instance of this process. @param nameMessages called once per mailbox and poll, whatever the number of streams
 */
export function changesHub({ db, log }: Pick<Services, 'db' | 'log'>, nameMessages: NameMessages): ChangesHub {
  const known = hubs.get(db);
  if (known !== undefined) return known;
  const organizations = new Map<string, Watched>();
  let isLooking = false;

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
      const polled = [...organizations].flatMap(([organizationId, watched]) =>
        watched.place === undefined ? [] : [{ organizationId, place: watched.place, watched }],
      );
      if (polled.length > 0) {
        const read = await readChanges(db, polled);
        const byOrganization = Map.groupBy(await named(read.changes), ({ organizationId }) => organizationId);
        for (const { organizationId, watched } of polled) {
          watched.place = read.place;
          const changes = byOrganization.get(organizationId) ?? [];
          for (const take of watched.takers) take({ ...read, changes });
        }
      }
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'looking for changes of organizations failed; trying again');
    }
    if (organizations.size === 0) isLooking = false;
    else setTimeout(() => void look(), ORGANIZATION_CHANGES_LOOK_MS).unref();
  }

  const hub: ChangesHub = {
    async subscribe(organizationId, take) {
      const watched = organizations.get(organizationId) ?? { takers: new Set(), place: undefined };
      organizations.set(organizationId, watched);
      watched.takers.add(take);
      const stop = () => {
        watched.takers.delete(take);
        if (watched.takers.size === 0 && organizations.get(organizationId) === watched)
          organizations.delete(organizationId);
      };
      try {
        if (watched.place === undefined) {
          const begun = await presentPlace(db);
          // Another subscriber may have come first, and polls may have been made since.
          watched.place ??= begun;
        }
      } catch (error) {
        stop();
        throw error;
      }
      if (!isLooking) {
        isLooking = true;
        void look();
      }
      return stop;
    },
  };
  hubs.set(db, hub);
  return hub;
}
