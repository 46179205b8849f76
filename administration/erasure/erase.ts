/**
 * An erasure from its begin to its receipt:
 *
 *   target ─▶ row of the erasure ─▶ portions, each with its counts ─▶ workflows are signalled ─▶ receipt, signed
 *                   ▲                     │ killed
 *                   └── the same command ─┘
 *
 * The steps find by themselves what is left, so an erasure that was interrupted begins with them again. Its row is only
 * needed for the counts, and for the address, which the receipt has as a hash.
 */
import { OPERATOR } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { productVersion } from '#core/platform/product-version.ts';
import type { Database, Sql } from '#db/database.ts';
import { allPortions } from '#db/delete-portion.ts';
import { holdsStay } from '#db/queries/mailboxes/legal-hold.ts';
import { CatalogueError } from '#domain/errors.ts';
import { removeFreeObjects } from '#mailstore/blobs/move-blobs.ts';
import { endWorkflows } from './end-workflows.ts';
import { eraseCorrespondent } from './erase-correspondent.ts';
import { eraseMailbox, type MailboxToErase } from './erase-mailbox.ts';
import { eraseOrganization } from './erase-organization.ts';
import { type Counts, plus, type Run } from './portions.ts';
import {
  addressHash,
  type ErasureKind,
  type ErasureStatement,
  type ErasureSubject,
  type KnownBackup,
  signReceipt,
} from './receipt.ts';

/** What the steps need. */
interface Pending {
  readonly mailbox?: MailboxToErase;
  readonly organizationId?: string;
  /** Of the organization: its row is gone before the end. */
  readonly slug?: string;
  readonly address?: string;
  readonly organizationIds?: readonly string[];
}

export interface Target {
  readonly kind: ErasureKind;
  readonly subject: ErasureSubject;
  /** Undefined: nothing is left of it, or it never was there. */
  readonly pending: Pending | undefined;
}

const notThere = (kind: string, given: string): CatalogueError =>
  new CatalogueError('not_found', `There is no ${kind} ${given}, and no erasure of one.`, {
    fix: 'Look for its id, and give that.',
  });

/** @param given id or address; of several mailboxes with the address, the one that is not deleted, then the last */
export async function mailboxTarget(sql: Sql, given: string): Promise<Target> {
  const [mailbox] = await sql.query<MailboxToErase>(
    `select id, organization_id as "organizationId", address from mailboxes where id = $1 or address = lower($1)
      order by (id = $1) desc, deleted_at desc nulls first limit 1`,
    [given],
  );
  if (mailbox !== undefined)
    return {
      kind: 'mailbox',
      subject: { organizationId: mailbox.organizationId, mailboxId: mailbox.id },
      pending: { mailbox },
    };
  const [earlier] = await sql.query<{ subject: ErasureSubject }>(
    `select subject from erasure where kind = 'mailbox' and (subject ->> 'mailboxId' = $1 or pending #>> '{mailbox,address}' = lower($1))
      order by id desc limit 1`,
    [given],
  );
  if (earlier === undefined) throw notThere('mailbox', given);
  return { kind: 'mailbox', subject: earlier.subject, pending: undefined };
}

/** @param given id or slug */
export async function organizationTarget(sql: Sql, given: string): Promise<Target> {
  const [organization] = await sql.query<{ id: string; slug: string }>(
    `select id, slug from organizations where id = $1 or slug = $1`,
    [given],
  );
  if (organization !== undefined)
    return {
      kind: 'organization',
      subject: { organizationId: organization.id },
      pending: { organizationId: organization.id, slug: organization.slug },
    };
  const [earlier] = await sql.query<{ subject: ErasureSubject }>(
    `select subject from erasure where kind = 'organization' and (subject ->> 'organizationId' = $1 or pending ->> 'slug' = $1)
      order by id desc limit 1`,
    [given],
  );
  if (earlier === undefined) throw notThere('organization', given);
  return { kind: 'organization', subject: earlier.subject, pending: undefined };
}

/** @param within id of the only organization; null: all */
export async function correspondentTarget(
  { db, pepper }: Pick<Services, 'db' | 'pepper'>,
  given: string,
  within: string | null,
): Promise<Target> {
  const address = given.toLowerCase();
  const organizations = await db.query<{ id: string }>(
    `select id from organizations where $1::text is null or id = $1 order by id`,
    [within],
  );
  return {
    kind: 'correspondent',
    subject: { organizationId: within, addressHash: addressHash(pepper, address) },
    pending: { address, organizationIds: organizations.map(({ id }) => id) },
  };
}

/**
 * Of one that was interrupted, what is left stays too.
 *
 * @throws {CatalogueError} conflict, if something of it is on legal hold
 */
async function requireNoLegalHold(sql: Sql, { pending }: Target): Promise<void> {
  await holdsStay(sql);
  const { mailbox, organizationId, organizationIds } = pending ?? {};
  const [hold] = await sql.query<{ id: string; organizationId: string; reason: string }>(
    `select id, organization_id as "organizationId", reason from legal_hold
      where organization_id = any($1::text[]) and ($2::text is null or mailbox_id is null or mailbox_id = $2)
      order by id limit 1`,
    [organizationIds ?? [mailbox?.organizationId ?? organizationId ?? ''], mailbox?.id ?? null],
  );
  if (hold !== undefined)
    throw new CatalogueError('conflict', `It is on legal hold: ${hold.reason}. Nothing was erased.`, {
      fix: `\`agent-mailbox-admin legal-holds list ${hold.organizationId}\` shows the holds; \`legal-holds lift ${hold.organizationId} ${hold.id}\` lifts this one.`,
    });
}

export interface EraseOptions {
  /** To be named in the receipt, if they were made before; undefined: nobody looked. */
  readonly backups: readonly KnownBackup[] | undefined;
  readonly onPortion: (table: string) => void;
  /** Legal holds of today say nothing about what was erased before, and is there again by a restore. */
  readonly despiteHolds: boolean;
}

export interface Erased {
  readonly statement: ErasureStatement;
  /** The text of the receipt. */
  readonly receipt: string;
  /** It had ended before. */
  readonly before: boolean;
}

/** An erasure, and how far it is. */
export interface ErasureRow {
  readonly id: string;
  readonly kind: ErasureKind;
  readonly subject: ErasureSubject;
  readonly startedAt: Date;
  readonly pending: Pending | null;
  readonly counts: Counts;
  /** Null: it has not ended. */
  readonly receipt: string | null;
}

const ROW = `id, kind, subject, started_at as "startedAt", pending, counts, receipt`;

/**
 * The row of an erasure: that of one that was interrupted or has ended, else a new one. While it has not ended no legal
 * hold is set on what it erases.
 *
 * @throws {CatalogueError} not_found; conflict, if something of it is on legal hold, unless it is erased despite that
 */
export async function beginErasure(
  db: Database,
  target: Target,
  now: Date,
  { despiteHolds }: { readonly despiteHolds: boolean },
): Promise<ErasureRow> {
  const { kind, subject, pending } = target;
  return db.transaction(async (sql) => {
    if (!despiteHolds) await requireNoLegalHold(sql, target);
    // Two commands for the same thing begin one erasure.
    await sql.query(`select pg_advisory_xact_lock(hashtextextended('erasure ' || $1, 0))`, [JSON.stringify(subject)]);
    const [open, ended] = [
      await sql.query<ErasureRow>(
        `select ${ROW} from erasure where kind = $1 and subject = $2 and finished_at is null order by id desc limit 1`,
        [kind, JSON.stringify(subject)],
      ),
      await sql.query<ErasureRow>(
        `select ${ROW} from erasure where kind = $1 and subject = $2 and finished_at is not null order by id desc limit 1`,
        [kind, JSON.stringify(subject)],
      ),
    ];
    const found = open[0] ?? (pending === undefined ? ended[0] : undefined);
    if (found !== undefined) return found;
    if (pending === undefined) throw new CatalogueError('not_found', 'Nothing is left to be erased.');
    const [row] = await sql.query<ErasureRow>(
      `insert into erasure (id, kind, subject, pending, started_at) values ($1, $2, $3, $4, $5) returning ${ROW}`,
      [newId('erasure'), kind, JSON.stringify(subject), JSON.stringify(pending), now],
    );
    if (row === undefined) throw new Error('an insert without a row');
    return row;
  });
}

/** @returns undefined: there is none */
export async function findErasure(sql: Sql, id: string): Promise<ErasureRow | undefined> {
  const [row] = await sql.query<ErasureRow>(`select ${ROW} from erasure where id = $1`, [id]);
  return row;
}

/** Newest first; one more than `limit`. */
export const listErasures = (
  sql: Sql,
  page: { readonly limit: number; readonly after: string | null },
): Promise<ErasureRow[]> =>
  sql.query<ErasureRow>(`select ${ROW} from erasure where $1::text is null or id < $1 order by id desc limit $2`, [
    page.after,
    page.limit + 1,
  ]);

async function runSteps(services: Services, run: Run, pending: Pending, startedAt: Date): Promise<void> {
  const { mailbox, organizationId, address, organizationIds } = pending;
  if (mailbox !== undefined) await eraseMailbox(services, run, mailbox);
  if (organizationId !== undefined) await eraseOrganization(services, run, organizationId, OPERATOR);
  if (address !== undefined && organizationIds !== undefined)
    await eraseCorrespondent(services, run, { address, organizationIds, startedAt });
}

/** Rows that an erasure would take now. Changes nothing. */
export async function rehearse(
  services: Services,
  { pending }: Target,
  onPortion: (table: string) => void,
): Promise<Counts> {
  let counts: Counts = {};
  const run: Run = {
    db: services.db,
    erasureId: undefined,
    counted: (more) => {
      counts = plus(counts, more);
    },
    onPortion,
  };
  if (pending !== undefined) await runSteps(services, run, pending, new Date(services.now()));
  return withoutZeros(counts);
}

const withoutZeros = (counts: Counts): Counts =>
  Object.fromEntries(
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .toSorted(([a], [b]) => a.localeCompare(b, 'en')),
  );

/** A content without an owner may be needed by a transaction that has not ended, for so long at most. */
const ORPHAN_AGE_MINUTES = 10;
const ORPHANS_AT_ONCE = 500;

/** Earlier versions of edited mail, and of mail that was deleted before: nothing says whose they were. */
async function eraseOrphans(db: Database, onPortion: (table: string) => void): Promise<void> {
  for (let more = true; more; ) {
    const rows = await db.query(
      `delete from blob where sha256 in (
         select sha256 from blob
          where created_at < now() - make_interval(mins => $1) and not exists (select from message where blob = sha256)
            and not exists (select from outbound_message where blob = sha256)
          limit $2 for update skip locked) returning 1`,
      [ORPHAN_AGE_MINUTES, ORPHANS_AT_ONCE],
    );
    more = rows.length === ORPHANS_AT_ONCE;
    onPortion('blob');
  }
}

/** Contents outside the rows, in the moment in which nothing refers to them any more. @throws {CatalogueError} conflict */
async function eraseObjects(db: Database, onPortion: (table: string) => void): Promise<void> {
  const [left] = await db.query(`select 1 from blob_object where state = 'free' limit 1`);
  if (left === undefined) return;
  const { objects } = db;
  if (objects === undefined)
    throw new CatalogueError('conflict', 'Contents to be erased are in an object storage.', {
      fix: 'Set S3_ENDPOINT, S3_BUCKET and its keys, then ask for the same erasure again.',
    });
  await allPortions(() => {
    onPortion('blob_object');
    return removeFreeObjects(db, objects, true);
  });
}

const KEEP_RECEIPT = `
  update erasure set finished_at = $2, receipt = $3, pending = null, workflows = '{}'
   where id = $1 and finished_at is null returning 1`;

/** Erases, or goes on with an erasure that was interrupted. @throws {CatalogueError} not_found, conflict */
export async function erase(services: Services, target: Target, options: EraseOptions): Promise<Erased> {
  const row = await beginErasure(services.db, target, new Date(services.now()), options);
  return finishErasure(services, row, options);
}

/** Does what is left of an erasure that began. */
export async function finishErasure(
  services: Services,
  row: ErasureRow,
  { backups, onPortion }: Omit<EraseOptions, 'despiteHolds'>,
): Promise<Erased> {
  const { db, settings, pepper, now } = services;
  if (row.receipt === null && row.pending !== null) {
    const run: Run = { db, erasureId: row.id, counted: () => {}, onPortion };
    await runSteps(services, run, row.pending, row.startedAt);
    await eraseOrphans(db, onPortion);
    await eraseObjects(db, onPortion);
    const workflows = await endWorkflows(db, settings, row.id);
    const finishedAt = new Date(now());
    const [done] = await db.query<{ counts: Counts }>(`select counts from erasure where id = $1`, [row.id]);
    const statement: ErasureStatement = {
      format: 'agent-mailbox-erasure',
      formatVersion: 1,
      id: row.id,
      kind: row.kind,
      subject: row.subject,
      startedAt: row.startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      productVersion: productVersion(),
      counts: withoutZeros(done?.counts ?? {}),
      workflows,
      backups: containing(backups, finishedAt),
    };
    await db.query(KEEP_RECEIPT, [row.id, finishedAt, signReceipt(pepper, statement)]);
  }
  const [kept] = await db.query<{ receipt: string }>(`select receipt from erasure where id = $1`, [row.id]);
  if (kept === undefined) throw new Error(`the erasure ${row.id} is gone`);
  return { statement: statementOf(kept.receipt), receipt: kept.receipt, before: row.receipt !== null };
}

/** What a receipt says. */
export function statementOf(receipt: string): ErasureStatement {
  const { statement } = JSON.parse(receipt) as { readonly statement: string };
  return JSON.parse(statement) as ErasureStatement;
}

const containing = (backups: readonly KnownBackup[] | undefined, until: Date): readonly KnownBackup[] | null =>
  backups?.filter(({ takenAt }) => new Date(takenAt) < until) ?? null;
