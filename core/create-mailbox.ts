/**
 * Creates mailboxes.
 *
 *   look up client id, domain ──▶ free plan limit? ──no──▶ group of concurrent creations ─┐
 *                                       └──yes──▶ own transaction under the organization's lock ─┴▶ one commit:
 *   mailbox, folders, counters, audit entry, event `mailbox_created` and its deliveries
 */
import type { Database, Sql } from '../db/database.ts';
import { addressesDeletedSince, insertMailboxes, type MailboxInsert } from '../db/queries/insert-mailboxes.ts';
import { createMailFoldersOfAll } from '../db/queries/mail-folders.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { EnvelopeOrganization } from '../domain/event-envelope.ts';
import { generatedLocalPart, localPartProblem } from '../domain/mailbox-address.ts';
import { ADDRESS_REUSE_AFTER_DAYS } from '../domain/mailbox-status.ts';
import { PLANS, type PlanName } from '../domain/plans.ts';
import { recordAudits } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashCredential, newCredential } from './credentials.ts';
import { groupCommit } from './group-commit.ts';
import { findMailboxByClientId } from './mailbox-queries.ts';
import { envelopeMailbox, type MailboxView, mailboxSnapshot } from './mailbox-view.ts';
import { newId } from './new-id.ts';
import { recordEvents } from './record-event.ts';
import type { Services } from './services.ts';

export interface NewMailbox {
  readonly localPart?: string;
  readonly name?: string;
  readonly domain?: string;
  readonly metadata?: Readonly<Record<string, string>>;
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
  readonly mailbox: MailboxView;
  readonly tokenHash: Buffer;
  /** The local part was chosen by the caller, so a clash is an answer and not a reason to try another. */
  readonly chosen: boolean;
}

type Outcome = 'created' | 'taken';

const DAY_MS = 86_400_000;
const GENERATED_TRIES = 8;
const GROUP_MAX_MAILBOXES = 100;
const GROUPS_AT_ONCE = 2;

/**
 * @throws {CatalogueError} invalid_local_part, invalid_request (domain), conflict (address taken), plan_limit_reached
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
  if (input.clientId !== undefined) {
    const existing = await findMailboxByClientId(services.db, organization.id, input.clientId);
    if (existing !== undefined) return alreadyThere(existing, input);
  }
  const domain = input.domain?.toLowerCase() ?? services.settings.MAIL_DOMAIN.toLowerCase();
  const served = await isServed(services, organization.id, domain);
  const token = newCredential('mailboxToken');
  const tokenHash = hashCredential(token, services.pepper);
  for (let tries = 0; tries < GENERATED_TRIES; tries++) {
    const local = localPart ?? generatedLocalPart([Math.random(), Math.random(), Math.random()]);
    const mailbox = newMailbox(services, organization, { ...input, localPart: local, domain }, served);
    const creation = { organization, caller, mailbox, tokenHash, chosen: localPart !== undefined };
    if ((await carryOut(services, creation)) === 'created') {
      services.deliveriesDue.nudge();
      return { mailbox, token };
    }
    if (input.clientId !== undefined) {
      const existing = await findMailboxByClientId(services.db, organization.id, input.clientId);
      if (existing !== undefined) return alreadyThere(existing, input);
    }
    if (localPart !== undefined)
      throw new CatalogueError('conflict', `The address ${mailbox.address} is in use, or was until lately.`, {
        details: [
          {
            path: '/localPart',
            message: `is taken; a deleted address is given out again after ${ADDRESS_REUSE_AFTER_DAYS} days`,
          },
        ],
        fix: 'Choose another localPart, or leave it out to have one made.',
      });
  }
  throw new Error(`no free local part found for ${domain} in ${GENERATED_TRIES} tries`);
}

/** The mailbox of a client id, unless the request asks for another address than it has. */
function alreadyThere(mailbox: MailboxView, input: NewMailbox): CreatedMailbox {
  const other =
    (input.localPart !== undefined && input.localPart.toLowerCase() !== mailbox.localPart) ||
    (input.domain !== undefined && input.domain.toLowerCase() !== mailbox.domain);
  if (other)
    throw new CatalogueError('conflict', `The clientId belongs to the mailbox ${mailbox.id} with another address.`, {
      fix: 'Use a clientId of its own for each mailbox, or ask for the address the mailbox has.',
    });
  return { mailbox, token: null };
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
    details: [{ path: '/domain', message: 'is not a domain of this organization; add it by POST /api/domains' }],
  });
}

function newMailbox(
  services: Services,
  organization: OrganizationOfMailbox,
  input: NewMailbox & { readonly localPart: string; readonly domain: string },
  served: boolean,
): MailboxView {
  const now = services.now();
  const createdAt = new Date(now);
  return {
    id: newId('mailbox', now),
    name: input.name ?? input.localPart,
    address: `${input.localPart}@${input.domain}`,
    localPart: input.localPart,
    domain: input.domain,
    status: served ? 'active' : 'pending',
    syncStatus: served ? 'synced' : 'pending',
    quota: { limitBytes: PLANS[organization.plan].quotaBytesPerMailbox, usedBytes: 0, messageCount: 0 },
    metadata: input.metadata ?? {},
    unauthenticatedMail: 'junk',
    clientId: input.clientId ?? null,
    createdAt,
    updatedAt: createdAt,
    lastActivityAt: null,
    sending: { state: 'ok', reason: null },
  };
}

/** One group per database; it holds no state but the creations that wait. */
const groups = new WeakMap<Database, (creation: Creation) => Promise<Outcome>>();

function carryOut(services: Services, creation: Creation): Promise<Outcome> {
  const { db } = services;
  if (PLANS[creation.organization.plan].maxMailboxes !== null)
    return db.transaction(async (sql) => {
      await checkPlanLimit(sql, creation.organization.id);
      const [outcome = 'taken'] = await write(sql, [creation]);
      return outcome;
    });
  let group = groups.get(db);
  if (group === undefined) {
    group = groupCommit<Creation, Outcome>({
      carryOut: (creations) => db.transaction((sql) => write(sql, creations)),
      maxItems: GROUP_MAX_MAILBOXES,
      concurrency: GROUPS_AT_ONCE,
    });
    groups.set(db, group);
  }
  return group(creation);
}

/** Counts under the organization's lock, so that creations at the same time do not both take the last place. */
async function checkPlanLimit(sql: Sql, organizationId: string): Promise<void> {
  const [organization] = await sql.query<{ plan: PlanName }>(
    `select plan from organizations where id = $1 for no key update`,
    [organizationId],
  );
  const limit = organization === undefined ? null : PLANS[organization.plan].maxMailboxes;
  if (limit === null) return;
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from mailboxes where organization_id = $1 and deleted_at is null`,
    [organizationId],
  );
  if ((row?.count ?? 0) >= limit)
    throw new CatalogueError('plan_limit_reached', `The plan allows ${limit} mailboxes, and all are in use.`, {
      fix: 'Delete a mailbox that is not needed, or move the organization to a larger plan.',
    });
}

async function write(sql: Sql, creations: readonly Creation[]): Promise<Outcome[]> {
  const reusableBefore = new Date(
    Math.min(...creations.map(({ mailbox }) => mailbox.createdAt.getTime())) - ADDRESS_REUSE_AFTER_DAYS * DAY_MS,
  );
  const inserted = await insertMailboxes(sql, creations.map(insertOf), reusableBefore);
  const created = creations.filter(({ mailbox }) => inserted.has(mailbox.id));
  if (created.length > 0) {
    await refuseJustDeleted(sql, created, reusableBefore);
    await createMailFoldersOfAll(
      sql,
      created.map(({ mailbox }) => ({ mailboxId: mailbox.id, quotaBytes: mailbox.quota.limitBytes })),
    );
    await recordAudits(
      sql,
      created.map(({ organization, caller, mailbox }) => ({
        caller,
        entry: {
          organizationId: organization.id,
          action: 'mailbox.created',
          targetId: mailbox.id,
          details: { address: mailbox.address, name: mailbox.name },
        },
      })),
    );
    await recordEvents(
      sql,
      created.map(({ organization, caller, mailbox }) => ({
        type: 'mailbox_created',
        organization: { id: organization.id, name: organization.name, slug: organization.slug },
        mailbox: envelopeMailbox(mailbox),
        actor: caller.actor,
        data: { mailbox: mailboxSnapshot(mailbox) },
        occurredAt: mailbox.createdAt,
      })),
    );
  }
  return creations.map(({ mailbox }) => (inserted.has(mailbox.id) ? 'created' : 'taken'));
}

/** An insert that waited for the deletion of the same address saw the table as it was before; look again. */
async function refuseJustDeleted(sql: Sql, created: readonly Creation[], reusableBefore: Date): Promise<void> {
  const chosen = created.filter((creation) => creation.chosen).map(({ mailbox }) => mailbox.address);
  if (chosen.length === 0) return;
  const [deleted] = await addressesDeletedSince(sql, chosen, reusableBefore);
  if (deleted !== undefined)
    throw new CatalogueError('conflict', `The address ${deleted} was deleted just now.`, {
      fix: `Choose another localPart; this one is given out again after ${ADDRESS_REUSE_AFTER_DAYS} days.`,
    });
}

const insertOf = ({ organization, mailbox, tokenHash }: Creation): MailboxInsert => ({
  id: mailbox.id,
  organizationId: organization.id,
  localPart: mailbox.localPart,
  domain: mailbox.domain,
  address: mailbox.address,
  name: mailbox.name,
  status: mailbox.status,
  syncStatus: mailbox.syncStatus,
  tokenHash,
  metadata: mailbox.metadata,
  clientId: mailbox.clientId,
  createdAt: mailbox.createdAt,
});
