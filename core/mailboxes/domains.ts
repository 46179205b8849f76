/**
 * Customers' own mail domains.
 *
 *   pending ──verify: required records found──▶ verified
 *      └─verify: not found──▶ failed ──verify: found──▶ verified
 *
 * A verified domain stays verified if a later check finds less: a short DNS failure must not stop mail. Several
 * organizations may claim an unverified name; the first to prove ownership gets it. The others' mailboxes there, which
 * could never receive anything, are released.
 *
 * Whether a domain is hosted here decides what may be sent to people in it (`hosted-address.ts`). So a program does not
 * add or delete a domain in which members have their addresses: that is for a person.
 */
import { randomBytes } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '#core/organizations/audit.ts';
import { lockOrganization } from '#core/organizations/may-decide.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { type DomainRecord, Mailbox, MailDomain, type MailDomainRow } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import { domainNameProblem } from '#domain/mail/domain-names.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { publicListenerPorts } from './client-settings.ts';
import { type DkimRecord, makeDkimKey, publishedDkimKeys } from './dkim-keys.ts';
import { checkRecords, domainRecords, instanceDkimKey, mailRecords, relayHostOf } from './domain-records.ts';
import { announceMailboxAccess } from './mailbox-logins.ts';
import { stsRecords } from './mta-sts.ts';

/** Whether mail for a domain belongs to this instance: its own domain, or a verified one of an organization. */
export async function isServedDomain(sql: Sql, defaultDomain: string, domain: string): Promise<boolean> {
  const name = domain.toLowerCase();
  if (name === defaultDomain.toLowerCase()) return true;
  const rows = await sql.query(`select 1 from domains where name = $1 and status = 'verified'`, [name]);
  return rows.length > 0;
}

/**
 * @param organizationId whose members count; null: those of all organizations of the instance
 * @throws {CatalogueError} forbidden, to an API key, where a member's address is in the domain or below it
 */
async function requirePersonForMembersDomain(
  sql: Sql,
  caller: Caller,
  organizationId: string | null,
  name: string,
): Promise<void> {
  if (caller.actor.type !== 'api_key') return;
  const rows = await sql.query(MEMBER_IN_DOMAIN, [organizationId, [name, domainToUnicode(name)]]);
  if (rows.length === 0) return;
  throw new CatalogueError('forbidden', `Members have addresses in ${name}: only a person can add or delete it.`, {
    fix: 'Ask a member of the organization to do it in the dashboard, or with a session.',
  });
}

const MEMBER_IN_DOMAIN = `
  select 1 from members m join users u on u.id = m.user_id
   where ($1::text is null or m.organization_id = $1)
     and exists (select from unnest($2::text[]) as d (name)
                  where right(lower(u.email), length(d.name) + 1) in ('@' || d.name, '.' || d.name)) limit 1`;

const TOKEN_BYTES = 24;

/** Identity of a DKIM key in its sealed form. */
export const dkimKeyPlace = (domainId: string): string => `domains:dkim_private_key:${domainId}`;

const invalidName = (message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: '/name', message }] });

/** @throws {CatalogueError} invalid_request, conflict (claimed already), plan_limit_reached, forbidden */
export async function createDomain(
  services: Services,
  organizationId: string,
  caller: Caller,
  input: { readonly name: string },
): Promise<MailDomainRow> {
  const name = domainToASCII(input.name.trim().replace(/\.$/, '')).toLowerCase();
  const problem = domainNameProblem(name);
  if (problem !== undefined) throw invalidName(problem);
  const own = services.settings.MAIL_DOMAIN.toLowerCase();
  if (name === own || name.endsWith(`.${own}`)) throw invalidName('belongs to this instance');
  const { publicKey, privateKey } = await makeDkimKey();
  const now = new Date(services.now());
  const id = newId('domain', now.getTime());
  const facts = {
    name,
    verificationToken: randomBytes(TOKEN_BYTES).toString('base64url'),
    dkimSelector: `am${now.toISOString().slice(0, 7).replace('-', '')}`,
    dkimPublicKey: publicKey,
    ...hostFacts(services.settings),
  };
  try {
    return await services.db.entityTransaction(async (em) => {
      await requirePersonForMembersDomain(sqlOfEntityManager(em), caller, organizationId, name);
      await takePlace(em, organizationId, name);
      const row = em.create(MailDomain, {
        id,
        organization: organizationId,
        name,
        status: 'pending',
        verificationToken: facts.verificationToken,
        dkimSelector: facts.dkimSelector,
        dkimPublicKey: facts.dkimPublicKey,
        dkimPrivateKeySealed: services.secrets.seal(privateKey, dkimKeyPlace(id)),
        records: domainRecords(facts),
        createdAt: now,
        updatedAt: now,
      });
      await recordAudit(sqlOfEntityManager(em), caller, {
        organizationId,
        action: 'domain.created',
        targetId: id,
        details: { name },
      });
      return row;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new CatalogueError('conflict', `The organization already has ${name}.`, {
        details: [{ path: '/name', message: 'exists already' }],
        fix: 'Use the existing one: GET /api/domains.',
      });
    throw error;
  }
}

async function takePlace(em: EntityManager, organizationId: string, name: string): Promise<void> {
  const plan = await lockOrganization(em, organizationId);
  const limit = plan === undefined ? null : PLANS[plan].maxDomains;
  if (limit === null) return;
  // An existing one is reported below.
  if ((await em.count(MailDomain, { organization: organizationId, name: { $ne: name } })) >= limit)
    throw new CatalogueError('plan_limit_reached', `The plan ${plan} allows ${limit} domains, and all are in use.`, {
      fix: 'Delete a domain that is not needed, or move the organization to a larger plan.',
    });
}

async function ownDomain(em: EntityManager, organizationId: string, id: string, lock = false): Promise<MailDomainRow> {
  const row = await em.findOne(
    MailDomain,
    { id, organization: organizationId },
    lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {},
  );
  if (row === null) throw new CatalogueError('not_found');
  return row;
}

/** @throws {CatalogueError} not_found */
export const getDomain = (services: Services, organizationId: string, id: string): Promise<MailDomainRow> =>
  ownDomain(services.db.em(), organizationId, id);

/**
 * The currently required records: name and ports of this host, and the kinds of records, may have changed since the
 * last check. Its results are shown for records that are still the same.
 *
 * @param otherDkimKeys those of the domain (`dkim-keys.ts`)
 */
export function currentRecords(
  settings: Settings,
  row: MailDomainRow,
  otherDkimKeys: readonly DkimRecord[],
): DomainRecord[] {
  const { name, verificationToken, dkimSelector, dkimPublicKey } = row;
  const facts = { name, verificationToken, dkimSelector, dkimPublicKey, otherDkimKeys, ...hostFacts(settings) };
  return [...domainRecords(facts), ...stsRecords(settings, name)].map((record) => {
    const seen = row.records.find((each) => each.purpose === record.purpose && each.value === record.value);
    return seen === undefined ? record : { ...record, status: seen.status, found: seen.found };
  });
}

const hostFacts = (settings: Settings) => ({
  mailHost: settings.MAIL_HOSTNAME,
  relayHost: relayHostOf(settings),
  ...publicListenerPorts(settings),
});

/** The instance's own domain with its records, as DNS says now. */
export async function defaultDomain(services: Services): Promise<{ name: string; records: DomainRecord[] }> {
  const { settings } = services;
  const name = settings.MAIL_DOMAIN.toLowerCase();
  const { selector, publicKey } = await instanceDkimKey(services);
  const otherDkimKeys = await publishedDkimKeys(services.db, null);
  const facts = { name, dkimSelector: selector, dkimPublicKey: publicKey, otherDkimKeys, ...hostFacts(settings) };
  return { name, records: await checkRecords(settings, [...mailRecords(facts), ...stsRecords(settings, name)]) };
}

/** Newest first; one more than `limit`. */
export const listDomains = (
  services: Services,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MailDomainRow[]> =>
  services.db
    .em()
    .find(
      MailDomain,
      { organization: organizationId, ...(page.after === null ? {} : { id: { $lt: page.after } }) },
      { orderBy: { id: 'desc' }, limit: page.limit + 1 },
    );

/** @throws {CatalogueError} not_found; conflict while mailboxes use the domain */
export async function deleteDomain(services: Services, organizationId: string, id: string, caller: Caller) {
  await services.db.entityTransaction(async (em) => {
    const row = await ownDomain(em, organizationId, id, true);
    const mailboxes = await em.count(Mailbox, { organization: organizationId, domain: row.name, deletedAt: null });
    if (mailboxes > 0)
      throw new CatalogueError('conflict', `${mailboxes} mailboxes use ${row.name}; delete them first.`, {
        fix: `Delete the mailboxes at ${row.name}, then the domain.`,
      });
    const sql = sqlOfEntityManager(em);
    const aliases = await sql.query(
      `select from mailbox_alias where organization_id = $1 and domain = $2 and deleted_at is null limit 1`,
      [organizationId, row.name],
    );
    if (aliases.length > 0)
      throw new CatalogueError('conflict', `Aliases of mailboxes use ${row.name}; drop them first.`, {
        fix: `Drop the aliases at ${row.name}, then delete the domain.`,
      });
    await requirePersonForMembersDomain(sql, caller, null, row.name);
    // Dropped ones would be refused for the next owner of the domain too.
    await sql.query(`delete from mailbox_alias where organization_id = $1 and domain = $2`, [organizationId, row.name]);
    em.remove(row);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'domain.deleted',
      targetId: id,
      details: { name: row.name },
    });
  });
}

/**
 * Sets the mailbox that gets mail to unknown addresses of a domain; null: it is refused.
 *
 * @throws {CatalogueError} not_found; conflict while the domain is not verified; invalid_request (mailbox)
 */
export async function setCatchAll(
  services: Services,
  organizationId: string,
  id: string,
  mailboxId: string | null,
  caller: Caller,
): Promise<MailDomainRow> {
  return services.db.entityTransaction(async (em) => {
    const row = await ownDomain(em, organizationId, id, true);
    if (mailboxId !== null && row.status !== 'verified')
      throw new CatalogueError('conflict', `${row.name} is not verified.`, {
        fix: 'Verify the domain first: POST /api/domains/:id/verify.',
      });
    if (mailboxId !== null) await requirePersonForMembersDomain(sqlOfEntityManager(em), caller, null, row.name);
    const mailbox =
      mailboxId === null
        ? null
        : await em.findOne(Mailbox, { id: mailboxId, organization: organizationId, deletedAt: null });
    if (mailboxId !== null && mailbox === null)
      throw new CatalogueError('invalid_request', undefined, {
        details: [{ path: '/catchAllMailboxId', message: 'is not a mailbox of this organization' }],
      });
    row.catchAllMailboxId = mailboxId;
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'domain.catch_all_changed',
      targetId: id,
      details: { name: row.name, mailboxId },
    });
    return row;
  });
}

/**
 * Checks DNS and stores the result. If the required records exist, the domain is verified and its pending mailboxes
 * become active.
 *
 * @throws {CatalogueError} not_found; conflict when another organization has verified the name
 */
export async function verifyDomain(
  services: Services,
  organizationId: string,
  id: string,
  caller: Caller,
): Promise<MailDomainRow> {
  const asked = await getDomain(services, organizationId, id);
  const otherKeys = await publishedDkimKeys(services.db, id);
  const records = await checkRecords(services.settings, currentRecords(services.settings, asked, otherKeys));
  try {
    return await services.db.entityTransaction(async (em) => {
      const row = await ownDomain(em, organizationId, id, true);
      const now = new Date(services.now());
      row.records = records;
      row.checkedAt = now;
      if (row.status === 'verified') return row;
      if (!records.every(isFulfilled)) {
        // Without an answer from DNS nothing is known.
        if (records.some(isUnfulfilled)) row.status = 'failed';
        return row;
      }
      row.status = 'verified';
      row.verifiedAt = now;
      await em.flush();
      const sql = sqlOfEntityManager(em);
      await activateMailboxes(sql, organizationId, row.name, now);
      await recordAudit(sql, caller, {
        organizationId,
        action: 'domain.verified',
        targetId: id,
        details: { name: row.name },
      });
      return row;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new CatalogueError('conflict', `Another organization has verified ${asked.name}.`, {
        fix: 'If the domain is yours, ask the operator of this service; until then its mail is delivered to the other organization.',
      });
    throw error;
  }
}

const isFulfilled = ({ required, status }: DomainRecord): boolean => !required || status === 'found';
const isUnfulfilled = ({ required, status }: DomainRecord): boolean =>
  required && (status === 'missing' || status === 'wrong');

async function activateMailboxes(sql: Sql, organizationId: string, domain: string, now: Date): Promise<void> {
  // Their addresses can be reused at once: they never received anything.
  const released = await sql.query<{ id: string }>(
    `update mailboxes set status = 'deleting', deleted_at = $3, updated_at = $3, address = id || '@released.invalid'
      where domain = $2 and organization_id <> $1 and status = 'pending' and deleted_at is null
      returning id`,
    [organizationId, domain, now],
  );
  await announceMailboxAccess(sql, ...released.map(({ id }) => id));
  await sql.query(
    `update mailboxes set status = 'active', sync_status = 'synced', updated_at = $3
      where organization_id = $1 and domain = $2 and status = 'pending' and deleted_at is null`,
    [organizationId, domain, now],
  );
}

/**
 * Whether mail to an address is, or may soon be, read in a mailbox of this instance, and so by agents: its domain or
 * one above it is the instance's own, a verified one, or one that one of the organizations is about to verify. Only the
 * domain is compared, so role addresses, tags and forwarded addresses count too.
 *
 * @param organizationIds those of the person
 */
export async function isHostedAddress(
  sql: Sql,
  defaultDomain: string,
  organizationIds: readonly string[],
  address: string,
): Promise<boolean> {
  const domain = domainOf(withAsciiDomain(address.toLowerCase())).replace(/\.+$/, '');
  const own = defaultDomain.toLowerCase();
  if (domain === own || domain.endsWith(`.${own}`)) return true;
  const rows = await sql.query(CLAIMED, [domain, organizationIds]);
  return rows.length > 0;
}

const CLAIMED = `
  select 1 from domains
   where (status = 'verified' or organization_id = any($2::text[]))
     and (name = $1 or right($1, length(name) + 1) = '.' || name) limit 1`;
