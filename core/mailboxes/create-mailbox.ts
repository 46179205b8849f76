/**
 * Creates mailboxes.
 *
 *   look up client id, domain ──▶ does the plan limit mailboxes? ──no──▶ group of concurrent creations ─┐
 *                                       └──yes──▶ own transaction under the organization's lock ────────┴▶ one commit:
 *   mailbox, folders, counters, audit entry, event `mailbox_created` and its deliveries
 *
 * All of it is sent together, before it is known whether an address or client id is taken. If one is, everything is
 * rolled back and repeated without it.
 */

import { recordEvents } from '#core/events/record-event.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import { type Batcher, batcher, inOrder } from '#core/platform/batching/batcher.ts';
import type { Caller } from '#core/platform/caller.ts';
import { type ClientId, hashOfContent, requireSameContent } from '#core/platform/client-id.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import type { Database, Sql } from '#db/database.ts';
import {
  addressesTakenSince,
  type InsertedBrakes,
  insertMailboxes,
  type MailboxInsert,
} from '#db/queries/mailboxes/insert-mailboxes.ts';
import { createMailFoldersOfAll } from '#db/queries/mailboxes/mail-folders.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import { generatedLocalPart, localPartProblem } from '#domain/mail/mailbox-address.ts';
import { ADDRESS_REUSE_AFTER_DAYS } from '#domain/organizations/mailboxes.ts';
import { PLANS, type PlanName } from '#domain/organizations/plans.ts';
import { stoppedBy } from '#domain/sending/sending-brakes.ts';
import type { EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import {
  envelopeMailbox,
  findMailboxByClientId,
  type MailboxView,
  mailboxSnapshot,
  NO_USE,
} from './mailbox-queries.ts';

export interface NewMailbox {
  readonly localPart?: string;
  readonly name?: string;
  readonly purpose?: string | null;
  readonly group?: string | null;
  readonly domain?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly expiresAt?: Date | null;
  readonly retention?: MailRetention | null;
  readonly clientId?: string;
}

/** `token` is null when the client id named a mailbox that was there already. */
export interface CreatedMailbox {
  readonly mailbox: MailboxView;
  readonly token: string | null;
}

type OrganizationOfMailbox = EnvelopeOrganization & { readonly plan: PlanName };

interface Creation {
  readonly organization: OrganizationOfMailbox;
  readonly caller: Caller;
  readonly mailbox: MailboxOfRequest;
  readonly tokenHash: Buffer;
  readonly clientId: ClientId | undefined;
  /** The local part was chosen by the caller, so a clash is an answer and not a reason to try another. */
  readonly chosen: boolean;
}

/** All but what its organization decides: it is read in the transaction that inserts the mailbox. */
type MailboxOfRequest = Omit<MailboxView, 'brakes' | 'stoppedBy'>;

/** `untaken`: deliveries of the transaction that wait for a claim. */
type Outcome = (InsertedBrakes & { readonly untaken: number }) | 'taken';

/** Some of the mailboxes of a transaction could not be inserted. */
class SomeTaken extends Error {
  readonly inserted: ReadonlyMap<string, unknown>;
  constructor(inserted: ReadonlyMap<string, unknown>) {
    super('the address or client id of a mailbox is taken');
    this.inserted = inserted;
  }
}

const DAY_MS = 86_400_000;
const GENERATED_TRIES = 8;
const GROUP_MAX_MAILBOXES = 100;
const GROUPS_AT_ONCE = 2;

/**
 * @throws {CatalogueError} invalid_local_part, invalid_request (domain), plan_limit_reached; conflict (the address is
 * taken, the client id was used for another mailbox)
 */
export async function createMailbox(
  services: Services,
  organization: OrganizationOfMailbox,
  caller: Caller,
  input: NewMailbox,
): Promise<CreatedMailbox> {
  const localPart = input.localPart?.toLowerCase();
  const problem = localPart === undefined ? undefined : localPartProblem(localPart);
  if (problem !== undefined)
    throw new CatalogueError('invalid_local_part', undefined, { details: [{ path: '/localPart', message: problem }] });
  const domain = input.domain?.toLowerCase() ?? services.settings.MAIL_DOMAIN.toLowerCase();
  const clientId = clientIdOf(input, localPart, domain);
  const existing = clientId && (await findCreated(services, organization.id, clientId));
  if (existing !== undefined) return existing;
  if (input.expiresAt !== undefined && input.expiresAt !== null && input.expiresAt.getTime() <= services.now())
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/expiresAt', message: 'must be in the future' }],
    });
  const served = await isServed(services, organization.id, domain);
  const token = newCredential('mailboxToken');
  const tokenHash = hashCredential(token, services.pepper);
  for (let tries = 0; tries < GENERATED_TRIES; tries++) {
    const local = localPart ?? generatedLocalPart([Math.random(), Math.random(), Math.random()]);
    const mailbox = newMailbox(services, organization, { ...input, localPart: local, domain }, served);
    const creation = { organization, caller, mailbox, tokenHash, clientId, chosen: localPart !== undefined };
    const outcome = await carryOut(services, creation);
    if (outcome !== 'taken') {
      const { brakes, organizationStopped, untaken } = outcome;
      if (untaken > 0) services.deliveriesDue.wake();
      return { mailbox: { ...mailbox, brakes, stoppedBy: stoppedBy(brakes.mode, organizationStopped) }, token };
    }
    const meanwhile = clientId && (await findCreated(services, organization.id, clientId));
    if (meanwhile !== undefined) return meanwhile;
    if (localPart !== undefined)
      throw new CatalogueError('conflict', `The address ${mailbox.address} is in use, or was deleted recently.`, {
        details: [
          {
            path: '/localPart',
            message: `is in use; a deleted address can be reused after ${ADDRESS_REUSE_AFTER_DAYS} days`,
          },
        ],
        fix: 'Choose another localPart, or omit it to get a generated one.',
      });
  }
  throw new Error(`no free local part found for ${domain} in ${GENERATED_TRIES} tries`);
}

function clientIdOf(input: NewMailbox, localPart: string | undefined, domain: string): ClientId | undefined {
  const { clientId: id, name, purpose = null, group = null, metadata = {}, retention = null } = input;
  if (id === undefined) return undefined;
  // Without `expiresAt`: a program that repeats a creation reckons it anew. Hashes of earlier versions have no retention.
  const kept = retention === null ? {} : { retention };
  return { id, hashes: [hashOfContent({ localPart, domain, name, purpose, group, metadata, ...kept })] };
}

/** The mailbox that was created with this client id. @throws {CatalogueError} conflict, for other content */
async function findCreated(
  { db }: Services,
  organizationId: string,
  clientId: ClientId,
): Promise<CreatedMailbox | undefined> {
  const found = await findMailboxByClientId(db, organizationId, clientId.id);
  if (found === undefined) return undefined;
  requireSameContent(found.hash === null ? null : [found.hash], clientId, 'mailbox');
  return { mailbox: found.mailbox, token: null };
}

/** Whether mail for the domain is served here. @throws {CatalogueError} when the organization does not have it */
async function isServed(services: Services, organizationId: string, domain: string): Promise<boolean> {
  if (domain === services.settings.MAIL_DOMAIN.toLowerCase()) return true;
  const [row] = await services.db.query<{ status: string }>(
    `select status from domains where organization_id = $1 and name = $2`,
    [organizationId, domain],
  );
  if (row !== undefined) return row.status === 'verified';
  throw new CatalogueError('invalid_request', undefined, {
    details: [{ path: '/domain', message: 'is not a domain of this organization; add it with POST /api/domains' }],
  });
}

function newMailbox(
  services: Services,
  organization: OrganizationOfMailbox,
  input: NewMailbox & { readonly localPart: string; readonly domain: string },
  served: boolean,
): MailboxOfRequest {
  const now = services.now();
  const createdAt = new Date(now);
  return {
    id: newId('mailbox', now),
    name: input.name ?? input.localPart,
    purpose: input.purpose ?? null,
    group: input.group ?? null,
    address: `${input.localPart}@${input.domain}`,
    localPart: input.localPart,
    domain: input.domain,
    status: served ? 'active' : 'pending',
    syncStatus: served ? 'synced' : 'pending',
    quota: { limitBytes: PLANS[organization.plan].quotaBytesPerMailbox, usedBytes: 0, messageCount: 0 },
    metadata: input.metadata ?? {},
    unauthenticatedMail: 'junk',
    screening: null,
    plusAddresses: true,
    carriedMail: null,
    askAfterReadingMinutes: null,
    retention: input.retention ?? null,
    expiresAt: input.expiresAt ?? null,
    canary: false,
    clientId: input.clientId ?? null,
    createdAt,
    updatedAt: createdAt,
    lastActivityAt: null,
    sending: { state: 'ok', reason: null },
    today: NO_USE,
    unread: 0,
    waiting: { held: 0, scheduled: 0 },
  };
}

/** One group per database; its only state is the waiting creations. */
const groups = new WeakMap<Database, Batcher<Creation, Outcome>>();

function carryOut(services: Services, creation: Creation): Promise<Outcome> {
  const { db } = services;
  const { organization } = creation;
  if (PLANS[organization.plan].maxMailboxes !== null)
    return createAll(db, [creation], (sql) => checkPlanLimit(sql, organization.id)).then(
      ([outcome = 'taken']) => outcome,
    );
  let group = groups.get(db);
  if (group === undefined) {
    group = batcher<Creation, Outcome>({
      carryOut: (creations) => createAll(db, creations, async () => {}),
      policy: inOrder(GROUP_MAX_MAILBOXES),
      concurrency: GROUPS_AT_ONCE,
    });
    groups.set(db, group);
  }
  return group.add(creation);
}

/** @param check runs before the creations, in the same transaction; its error is the outcome of all of them */
async function createAll(
  db: Database,
  creations: readonly Creation[],
  check: (sql: Sql) => Promise<void>,
): Promise<Outcome[]> {
  let free = creations;
  for (;;) {
    try {
      const { inserted, untaken } = await db.transaction(async (sql) => {
        const checked = check(sql);
        const written = write(sql, free);
        written.catch(() => {});
        await checked;
        return written;
      });
      return creations.map(({ mailbox }) => {
        const brakes = inserted.get(mailbox.id);
        return brakes === undefined ? 'taken' : { ...brakes, untaken };
      });
    } catch (error) {
      if (!(error instanceof SomeTaken)) throw error;
      free = free.filter(({ mailbox }) => error.inserted.has(mailbox.id));
      if (free.length === 0) return creations.map(() => 'taken');
    }
  }
}

/** Counts under the organization's lock, so that concurrent creations cannot both use the last place. */
async function checkPlanLimit(sql: Sql, organizationId: string): Promise<void> {
  const [[organization], [row]] = await Promise.all([
    sql.query<{ plan: PlanName }>(`select plan from organizations where id = $1 for no key update`, [organizationId]),
    sql.query<{ count: number }>(
      `select count(*)::int as count from mailboxes where organization_id = $1 and deleted_at is null`,
      [organizationId],
    ),
  ]);
  const limit = organization === undefined ? null : PLANS[organization.plan].maxMailboxes;
  if (limit !== null && (row?.count ?? 0) >= limit)
    throw new CatalogueError('plan_limit_reached', `The plan allows ${limit} mailboxes, and all are in use.`, {
      fix: 'Delete a mailbox that is not needed, or move the organization to a larger plan.',
    });
}

/** @throws {SomeTaken}; {CatalogueError} conflict, for a chosen address that was deleted meanwhile */
async function write(
  sql: Sql,
  creations: readonly Creation[],
): Promise<{ readonly inserted: ReadonlyMap<string, InsertedBrakes>; readonly untaken: number }> {
  const reusableBefore = new Date(
    Math.min(...creations.map(({ mailbox }) => mailbox.createdAt.getTime())) - ADDRESS_REUSE_AFTER_DAYS * DAY_MS,
  );
  const [inserted, deleted, , , untaken] = await Promise.all([
    insertMailboxes(sql, creations.map(insertOf), reusableBefore),
    chosenButDeleted(sql, creations, reusableBefore),
    createMailFoldersOfAll(
      sql,
      creations.map(({ mailbox }) => ({ mailboxId: mailbox.id, quotaBytes: mailbox.quota.limitBytes })),
    ),
    recordAudits(
      sql,
      creations.map(({ organization, caller, mailbox }) => ({
        caller,
        entry: {
          organizationId: organization.id,
          action: 'mailbox.created',
          targetId: mailbox.id,
          details: { address: mailbox.address, name: mailbox.name },
        },
      })),
    ),
    recordEvents(
      sql,
      creations.map(({ organization, caller, mailbox }) => ({
        type: 'mailbox_created',
        organization: { id: organization.id, name: organization.name, slug: organization.slug },
        mailbox: envelopeMailbox(mailbox),
        actor: caller.actor,
        data: { mailbox: mailboxSnapshot(mailbox) },
        occurredAt: mailbox.createdAt,
      })),
    ),
  ]);
  if (inserted.size < creations.length) throw new SomeTaken(inserted);
  if (deleted !== undefined)
    throw new CatalogueError('conflict', `The address ${deleted} was deleted just now, or became an alias.`, {
      fix: `Choose another localPart; this one can be reused after ${ADDRESS_REUSE_AFTER_DAYS} days.`,
    });
  return { inserted, untaken };
}

/** An insert that waited for the deletion of the same address, or for an alias of it, used an older snapshot; check again. */
async function chosenButDeleted(
  sql: Sql,
  creations: readonly Creation[],
  reusableBefore: Date,
): Promise<string | undefined> {
  const chosen = creations.filter((creation) => creation.chosen).map(({ mailbox }) => mailbox.address);
  if (chosen.length === 0) return undefined;
  const [deleted] = await addressesTakenSince(sql, chosen, reusableBefore);
  return deleted;
}

const insertOf = ({ organization, mailbox, tokenHash, clientId }: Creation): MailboxInsert => ({
  id: mailbox.id,
  organizationId: organization.id,
  localPart: mailbox.localPart,
  domain: mailbox.domain,
  address: mailbox.address,
  name: mailbox.name,
  purpose: mailbox.purpose,
  group: mailbox.group,
  status: mailbox.status,
  syncStatus: mailbox.syncStatus,
  tokenHash,
  metadata: mailbox.metadata,
  expiresAt: mailbox.expiresAt,
  retention: mailbox.retention,
  clientId: mailbox.clientId,
  clientHash: clientId?.hashes[0] ?? null,
  createdAt: mailbox.createdAt,
});
