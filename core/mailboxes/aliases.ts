/**
 * Aliases of mailboxes: made, changed and dropped. What their lists of senders do to arriving mail is in
 * `mailstore/delivery/alias-senders.ts`; which address leads where in `mailstore/delivery/recipients.ts`.
 *
 * An address is either a mailbox's or an alias's: creations of both wait for each other by a lock of the address
 * (`db/queries/mailboxes/address-locks.ts`).
 */
import { randomBytes } from 'node:crypto';
import { recordAudit } from '#core/organizations/audit.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { lockAddresses } from '#db/queries/mailboxes/address-locks.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  ALIAS_REUSE_AFTER_DAYS,
  ALIASES_BY_TOKEN_AND_DAY,
  ALIASES_BY_TOKEN_DEFAULT,
  ALIASES_PER_MAILBOX_AND_DAY,
  RANDOM_LOCAL_PART_BYTES,
  randomLocalPart,
  tagProblem,
  tokenLocalPartProblem,
  type UnlistedMail,
} from '#domain/mail/aliases.ts';
import { domainNameProblem } from '#domain/mail/domain-names.ts';
import { isEmailAddress, LOCAL_PART_MAX, localPartProblem } from '#domain/mail/mailbox-address.ts';
import { PLANS, type PlanName } from '#domain/organizations/plans.ts';

export interface Alias {
  readonly id: string;
  readonly mailboxId: string;
  readonly address: string;
  readonly note: string;
  /** Addresses and domains; empty: everybody. */
  readonly senders: readonly string[];
  readonly otherwise: UnlistedMail;
  /** The first author who writes to it becomes its list. */
  readonly lockToFirst: boolean;
  /** Name of the folder that its mail is filed in; null: INBOX. */
  readonly folder: string | null;
  readonly enabled: boolean;
  /** A token of the mailbox made it. */
  readonly byToken: boolean;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What of an alias can be changed. */
export interface AliasChanges {
  readonly note?: string;
  readonly senders?: readonly string[];
  readonly otherwise?: UnlistedMail;
  readonly lockToFirst?: boolean;
  readonly folder?: string | null;
  readonly enabled?: boolean;
  readonly expiresAt?: Date | null;
}

/** The address is chosen (`localPart`), a tag of the mailbox's own one (`tag`), or else random. */
export interface NewAlias extends AliasChanges {
  readonly localPart?: string;
  readonly tag?: string;
  /** Default: that of the mailbox. */
  readonly domain?: string;
}

/** The mailbox of an alias. */
interface OfMailbox {
  readonly organizationId: string;
  readonly mailboxId: string;
}

const DAY_MS = 86_400_000;

const COLUMNS = `
  a.id, a.mailbox_id as "mailboxId", a.address, a.note, a.senders, a.otherwise, a.lock_to_first as "lockToFirst",
  (select f.name from folder f where f.id = a.folder_id and f.deleted_at is null) as folder, a.enabled,
  a.by_token as "byToken", a.expires_at as "expiresAt", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

/** Newest first; one more than `limit`. */
export const listAliases = (
  sql: Sql,
  { organizationId, mailboxId }: OfMailbox,
  page: { readonly limit: number; readonly after: string | null },
): Promise<Alias[]> =>
  sql.query<Alias>(
    `select ${COLUMNS} from mailbox_alias a
      where a.organization_id = $1 and a.mailbox_id = $2 and a.deleted_at is null and ($3::text is null or a.id < $3)
      order by a.id desc limit $4`,
    [organizationId, mailboxId, page.after, page.limit + 1],
  );

/** @throws {CatalogueError} not_found */
export async function getAlias(sql: Sql, { organizationId, mailboxId }: OfMailbox, id: string): Promise<Alias> {
  const [row] = await sql.query<Alias>(
    `select ${COLUMNS} from mailbox_alias a
      where a.id = $3 and a.organization_id = $1 and a.mailbox_id = $2 and a.deleted_at is null`,
    [organizationId, mailboxId, id],
  );
  if (row === undefined) throw new CatalogueError('not_found');
  return row;
}

const invalid = (path: string, message: string) =>
  new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });

const isToken = ({ actor }: Caller): boolean => actor.type === 'mailbox';

interface MailboxOfAlias {
  readonly address: string;
  readonly localPart: string;
  readonly domain: string;
  readonly plan: PlanName;
  readonly byTokenMax: number | null;
  readonly aliases: number;
  readonly aliasesByToken: number;
  readonly madeToday: number;
}

/** Locks the mailbox, so that its aliases are counted exactly. */
const FIND_MAILBOX = `
  select x.address, x.local_part as "localPart", x.domain, o.plan, (o.settings ->> 'aliasesByToken')::int as "byTokenMax",
         (select count(*)::int from mailbox_alias a where a.mailbox_id = x.id and a.deleted_at is null) as aliases,
         (select count(*)::int from mailbox_alias a
           where a.mailbox_id = x.id and a.deleted_at is null and a.by_token) as "aliasesByToken",
         (select count(*)::int from mailbox_alias a where a.mailbox_id = x.id and a.created_at > $3) as "madeToday"
    from mailboxes x join organizations o on o.id = x.organization_id
   where x.id = $1 and x.organization_id = $2 and x.deleted_at is null`;

/**
 * @throws {CatalogueError} not_found; invalid_request (address, domain, folder, senders), invalid_local_part;
 *   plan_limit_reached; forbidden (a token may not make one); rate_limited; conflict (the address is taken)
 */
export async function createAlias(
  { db, now, settings }: Pick<Services, 'db' | 'now' | 'settings'>,
  of: OfMailbox,
  caller: Caller,
  given: NewAlias,
): Promise<Alias> {
  const at = new Date(now());
  return db.transaction(async (sql) => {
    await sql.query(`select from mailboxes where id = $1 for no key update`, [of.mailboxId]);
    const [mailbox] = await sql.query<MailboxOfAlias>(FIND_MAILBOX, [
      of.mailboxId,
      of.organizationId,
      new Date(at.getTime() - DAY_MS),
    ]);
    if (mailbox === undefined) throw new CatalogueError('not_found');
    requireRoom(mailbox, caller);
    const domain = withAsciiDomain((given.domain ?? mailbox.domain).toLowerCase());
    await requireDomain(sql, of.organizationId, domain, settings.MAIL_DOMAIN);
    const address = addressOf(mailbox, domain, caller, given);
    await lockAddresses(sql, [address]);
    await requireFree(sql, of, address, caller, at);
    const changes = await valuesOf(sql, of.mailboxId, given, at);
    const [row] = await sql.query<{ id: string }>(INSERT, [
      newId('alias', at.getTime()),
      of.organizationId,
      of.mailboxId,
      address,
      domain,
      changes.note ?? '',
      changes.senders ?? [],
      changes.otherwise ?? 'refuse',
      changes.lockToFirst ?? false,
      changes.folderId ?? null,
      changes.enabled ?? true,
      isToken(caller),
      caller.actor.id,
      changes.expiresAt ?? null,
      at,
    ]);
    if (row === undefined) throw taken(address);
    await recordAudit(sql, caller, {
      organizationId: of.organizationId,
      action: 'alias.created',
      targetId: row.id,
      details: { address, mailboxId: of.mailboxId, senders: changes.senders ?? [] },
    });
    return getAlias(sql, of, row.id);
  });
}

const INSERT = `
  insert into mailbox_alias (id, organization_id, mailbox_id, address, domain, note, senders, otherwise, lock_to_first,
    folder_id, enabled, by_token, created_by, expires_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
  on conflict do nothing returning id`;

function requireRoom(mailbox: MailboxOfAlias, caller: Caller): void {
  const byToken = mailbox.byTokenMax ?? ALIASES_BY_TOKEN_DEFAULT;
  if (isToken(caller) && byToken === 0)
    throw new CatalogueError('forbidden', 'Tokens of mailboxes of this organization may not make aliases.', {
      fix: 'Ask a member of the organization to make the alias.',
    });
  if (isToken(caller) && mailbox.aliasesByToken >= byToken)
    throw new CatalogueError(
      'conflict',
      `The tokens of this mailbox have made ${byToken} aliases, and may not make more.`,
      {
        fix: 'Drop an alias that is not needed, or ask a member of the organization.',
      },
    );
  const { maxAliasesPerMailbox: most } = PLANS[mailbox.plan];
  if (mailbox.aliases >= most)
    throw new CatalogueError(
      'plan_limit_reached',
      `The plan allows ${most} aliases for each mailbox, and all are in use.`,
      {
        fix: 'Drop an alias that is not needed, or move the organization to a larger plan.',
      },
    );
  const mostToday = isToken(caller) ? ALIASES_BY_TOKEN_AND_DAY : ALIASES_PER_MAILBOX_AND_DAY;
  if (mailbox.madeToday >= mostToday)
    throw new CatalogueError('conflict', `A mailbox gets at most ${mostToday} aliases in a day in this way.`, {
      fix: 'Use the aliases that are there, or try again tomorrow.',
    });
}

/** Whether mail for the domain is served here, and belongs to the organization. */
async function requireDomain(sql: Sql, organizationId: string, domain: string, defaultDomain: string): Promise<void> {
  if (domain === defaultDomain.toLowerCase()) return;
  const found = await sql.query(
    `select from domains where organization_id = $1 and name = $2 and status = 'verified' for key share`,
    [organizationId, domain],
  );
  if (found.length === 0) throw invalid('/domain', 'is not a verified domain of this organization');
}

function addressOf(mailbox: MailboxOfAlias, domain: string, caller: Caller, given: NewAlias): string {
  const { tag: givenTag, localPart: givenLocal } = given;
  if (givenTag !== undefined) {
    if (givenLocal !== undefined) throw invalid('/tag', 'cannot be given together with localPart');
    if (domain !== mailbox.domain) throw invalid('/domain', 'of an alias with a tag is that of the mailbox');
    const tag = givenTag.toLowerCase();
    const local = `${mailbox.localPart}+${tag}`;
    const problem = tagProblem(tag) ?? (local.length > LOCAL_PART_MAX ? 'is too long for this mailbox' : undefined);
    if (problem !== undefined) throw invalid('/tag', problem);
    return `${local}@${domain}`;
  }
  if (givenLocal === undefined) return `${randomLocalPart(randomBytes(RANDOM_LOCAL_PART_BYTES))}@${domain}`;
  const local = givenLocal.toLowerCase();
  const problem = isToken(caller) ? tokenLocalPartProblem(local) : localPartProblem(local);
  if (problem !== undefined)
    throw new CatalogueError('invalid_local_part', undefined, { details: [{ path: '/localPart', message: problem }] });
  return `${local}@${domain}`;
}

/** Whose address it is, or was until lately. A tag belongs to its mailbox, and can be used again at once. */
const TAKEN = `
  select exists (select from mailboxes x where x.address = $1 and (x.deleted_at is null or x.deleted_at > $2))
      or not $4 and exists (select from users where email = $1)
      or exists (select from mailbox_alias a
                  where a.address = $1
                    and (a.deleted_at is null
                         or a.deleted_at > $2 and (a.mailbox_id <> $3 or $5 and not a.by_token))) as taken`;

/**
 * Its own dropped alias can be made again by the mailbox, by a token only if a token dropped it. The address of a member
 * of any organization is for a person to give: mail about the account goes there.
 */
async function requireFree(
  sql: Sql,
  { mailboxId }: OfMailbox,
  address: string,
  caller: Caller,
  at: Date,
): Promise<void> {
  const reusableBefore = new Date(at.getTime() - ALIAS_REUSE_AFTER_DAYS * DAY_MS);
  const [row] = await sql.query<{ taken: boolean }>(TAKEN, [
    address,
    reusableBefore,
    mailboxId,
    caller.actor.type === 'user',
    isToken(caller),
  ]);
  if (row?.taken !== false) throw taken(address);
}

const taken = (address: string) =>
  new CatalogueError('conflict', `The address ${address} is in use, or was dropped recently.`, {
    details: [
      {
        path: '/localPart',
        message: `is in use; a dropped address can be reused after ${ALIAS_REUSE_AFTER_DAYS} days`,
      },
    ],
    fix: 'Choose another local part, or omit it to get a random one.',
  });

type Values = Omit<AliasChanges, 'folder'> & { readonly folderId?: number | null };

async function valuesOf(
  sql: Sql,
  mailboxId: string,
  { note, senders, otherwise, lockToFirst, folder, enabled, expiresAt }: AliasChanges,
  at: Date,
): Promise<Values> {
  if (expiresAt !== undefined && expiresAt !== null && expiresAt <= at)
    throw invalid('/expiresAt', 'must be in the future');
  return {
    ...(note === undefined ? {} : { note }),
    ...(senders === undefined ? {} : { senders: sendersOf(senders) }),
    ...(otherwise === undefined ? {} : { otherwise }),
    ...(lockToFirst === undefined ? {} : { lockToFirst }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(folder === undefined ? {} : { folderId: folder === null ? null : await folderIdOf(sql, mailboxId, folder) }),
  };
}

function sendersOf(given: readonly string[]): string[] {
  const senders = given.map((each) => withAsciiDomain(each.trim().toLowerCase()));
  const at = senders.findIndex((each) => !isEmailAddress(each) && domainNameProblem(each) !== undefined);
  if (at >= 0) throw invalid(`/senders/${at}`, 'must be an address or a domain');
  return [...new Set(senders)];
}

async function folderIdOf(sql: Sql, mailboxId: string, name: string): Promise<number> {
  const [row] = await sql.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and name_key = $2 and deleted_at is null`,
    [mailboxId, name.normalize('NFC').toLowerCase()],
  );
  if (row === undefined) throw invalid('/folder', 'is not a folder of this mailbox');
  return Number(row.id);
}

/** @throws {CatalogueError} not_found; forbidden if a token changes an alias that no token made */
async function lockAlias(sql: Sql, of: OfMailbox, id: string, caller: Caller): Promise<Alias> {
  await sql.query(`select from mailbox_alias where id = $1 and mailbox_id = $2 for no key update`, [id, of.mailboxId]);
  const alias = await getAlias(sql, of, id);
  if (isToken(caller) && !alias.byToken)
    throw new CatalogueError('forbidden', 'A token of the mailbox may only change aliases that a token made.', {
      fix: 'Ask a member of the organization, or make another alias.',
    });
  return alias;
}

/** @throws {CatalogueError} not_found, invalid_request; forbidden, as of `lockAlias` */
export async function updateAlias(
  { db, now }: Pick<Services, 'db' | 'now'>,
  of: OfMailbox,
  id: string,
  caller: Caller,
  changes: AliasChanges,
): Promise<Alias> {
  const at = new Date(now());
  return db.transaction(async (sql) => {
    const alias = await lockAlias(sql, of, id, caller);
    const values = await valuesOf(sql, of.mailboxId, changes, at);
    const after = { ...alias, ...values };
    await sql.query(UPDATE, [
      id,
      after.note,
      after.senders,
      after.otherwise,
      after.lockToFirst,
      after.enabled,
      after.expiresAt,
      values.folderId !== undefined,
      values.folderId ?? null,
      at,
      isToken(caller),
    ]);
    await recordAudit(sql, caller, {
      organizationId: of.organizationId,
      action: 'alias.updated',
      targetId: id,
      details: {
        address: alias.address,
        fields: Object.keys(changes),
        ...(values.senders === undefined ? {} : { before: alias.senders, after: values.senders }),
      },
    });
    return getAlias(sql, of, id);
  });
}

/** What a person changed is the person's: a token could undo it. */
const UPDATE = `
  update mailbox_alias set note = $2, senders = $3, otherwise = $4, lock_to_first = $5, enabled = $6, expires_at = $7,
         folder_id = case when $8 then $9 else folder_id end, updated_at = $10,
         by_token = by_token and $11
   where id = $1`;

/** The address is refused after the commit. @throws {CatalogueError} not_found; forbidden, as of `lockAlias` */
export async function dropAlias(
  { db, now }: Pick<Services, 'db' | 'now'>,
  of: OfMailbox,
  id: string,
  caller: Caller,
): Promise<void> {
  const at = new Date(now());
  await db.transaction(async (sql) => {
    const { address } = await lockAlias(sql, of, id, caller);
    await sql.query(
      `update mailbox_alias set deleted_at = $2, updated_at = $2, by_token = by_token and $3 where id = $1`,
      [id, at, isToken(caller)],
    );
    await recordAudit(sql, caller, {
      organizationId: of.organizationId,
      action: 'alias.deleted',
      targetId: id,
      details: { address, mailboxId: of.mailboxId },
    });
  });
}
