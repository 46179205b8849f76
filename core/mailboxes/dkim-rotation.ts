/**
 * Rotation of DKIM keys without a gap. Every step is one statement or transaction, and each may be repeated, by any
 * process, after a crash at any place:
 *
 *   create   a second key is stored; nothing signs with it, and its record is shown to be added to DNS
 *   switch   when every name server that is asked has the record, the key takes the place of the one that signs
 *   retire   the old record stays in DNS as long as mail with its signatures can be on its way; then it may be removed
 *
 * The signature of a message is made once, at its first attempt, so what is in the queue keeps that of the old key.
 */
import { randomUUID } from 'node:crypto';
import { recordAudit } from '#core/organizations/audit.ts';
import { OPERATOR } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { OUTBOUND_GIVE_UP_MS } from '#domain/sending/outbound.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { allOtherDkimKeys, dkimRotationPlace, makeDkimKey, type OtherDkimKey } from './dkim-keys.ts';
import { dkimKeyOfRecord, instanceDkimKey, instanceDkimPlace } from './domain-records.ts';
import { dkimKeyPlace } from './domains.ts';
import { askEachServer, type FindZoneServers, type ServerAnswer } from './name-servers.ts';

type RotationServices = Pick<Services, 'db' | 'secrets' | 'settings' | 'now' | 'log'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Other hosts queue mail for up to five days (RFC 5321 §4.5.4.1), after ours waited; then TTLs of records. */
const OTHERS_QUEUE_MS = 5 * DAY_MS;
const RECORD_TTL_MS = HOUR_MS;
/** How long the record of a key stays in DNS after its last signature. */
export const DKIM_RETIRE_AFTER_MS = OUTBOUND_GIVE_UP_MS + OTHERS_QUEUE_MS + RECORD_TTL_MS;
/** A name server without an answer delays the switch so long, if all others have the record. */
const SILENT_SERVER_DELAYS_MS = HOUR_MS;
/** What is kept of the answers of name servers. */
const ANSWER_CHARACTERS_MAX = 500;

/** The key that signs for a domain. */
export interface SigningKey {
  readonly domain: string;
  /** Null: the instance's own domain. */
  readonly domainId: string | null;
  readonly organizationId: string | null;
  readonly selector: string;
  readonly publicKey: string;
  readonly createdAt: Date;
}

const OF_ORGANIZATIONS = `
  select name as domain, id as "domainId", organization_id as "organizationId", dkim_selector as selector,
         dkim_public_key as "publicKey", coalesce(dkim_key_created_at, created_at) as "createdAt"
    from domains where status = 'verified'`;
const OF_INSTANCE = `
  select domain, null as "domainId", null as "organizationId", selector, public_key as "publicKey",
         created_at as "createdAt"
    from dkim_key where domain = $1`;

/** Those that sign, the instance's own first: its key is there after the first mail or `dns-records`. */
export const signingKeys = ({ db, settings }: Pick<Services, 'db' | 'settings'>): Promise<SigningKey[]> =>
  db.query<SigningKey>(`${OF_INSTANCE} union all (${OF_ORGANIZATIONS} order by name)`, [
    settings.MAIL_DOMAIN.toLowerCase(),
  ]);

/** @returns undefined: no such domain signs here */
async function findSigningKey(services: RotationServices, domain: string): Promise<SigningKey | undefined> {
  const { db, settings } = services;
  if (domain === settings.MAIL_DOMAIN.toLowerCase()) {
    await instanceDkimKey(services);
    const [own] = await db.query<SigningKey>(OF_INSTANCE, [domain]);
    return own;
  }
  const [key] = await db.query<SigningKey>(`${OF_ORGANIZATIONS} and name = $1`, [domain]);
  return key;
}

const SELECTOR_LETTERS = ['', ...'bcdefghijklmnopqrstuvwxyz'];

/** The day and, if another key of the domain is of that day, a letter: a selector must not change its key. */
function nextSelector(nowMs: number, used: ReadonlySet<string>): string {
  const day = `am${new Date(nowMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
  const letter = SELECTOR_LETTERS.find((each) => !used.has(`${day}${each}`));
  if (letter === undefined) throw new Error(`no selector is left for ${day}`);
  return `${day}${letter}`;
}

/**
 * Begins a rotation: stores the next key of a domain. A second call, also of another process at the same time, answers
 * the key that is there.
 *
 * @returns undefined: no such domain signs here
 */
export async function startDkimRotation(
  services: RotationServices,
  domainName: string,
): Promise<{ readonly key: OtherDkimKey; readonly isNew: boolean } | undefined> {
  const { db, secrets, now, log } = services;
  const signing = await findSigningKey(services, domainName.toLowerCase());
  if (signing === undefined) return undefined;
  const { domain, domainId, organizationId } = signing;
  const before = await keysOf(db, signing);
  const there = before.find(({ state }) => state === 'next');
  if (there !== undefined) return { key: there, isNew: false };
  const { publicKey, privateKey } = await makeDkimKey();
  const id = randomUUID();
  const selector = nextSelector(now(), new Set([signing.selector, ...before.map((each) => each.selector)]));
  const isNew = await db.transaction(async (sql) => {
    // The place of a next key is taken once for each domain.
    const added = await sql.query(
      `insert into dkim_rotation (id, domain, domain_id, selector, public_key, private_key_sealed, state, created_at)
       values ($1, $2, $3, $4, $5, $6, 'next', $7) on conflict do nothing returning id`,
      [id, domain, domainId, selector, publicKey, secrets.seal(privateKey, dkimRotationPlace(id)), new Date(now())],
    );
    if (added.length > 0 && domainId !== null && organizationId !== null)
      await recordAudit(sql, OPERATOR, {
        organizationId,
        action: 'domain.dkim_key_created',
        targetId: domainId,
        details: { name: domain, selector },
      });
    return added.length > 0;
  });
  const key = (await keysOf(db, signing)).find(({ state }) => state === 'next');
  if (key === undefined) throw new Error(`the next DKIM key of ${domain} was stored and is not there`);
  if (isNew) log.info({ domain, selector }, 'made the next DKIM key; it signs when DNS has its record');
  return { key, isNew };
}

const keysOf = async (sql: Sql, { domain, domainId }: Pick<SigningKey, 'domain' | 'domainId'>) =>
  (await allOtherDkimKeys(sql)).filter((each) => each.domain === domain && each.domainId === domainId);

/** What a look at DNS and the clock did. */
export interface RotationProgress {
  readonly switched: readonly OtherDkimKey[];
  readonly retired: readonly OtherDkimKey[];
  /** Whose records DNS lacks now, too. */
  readonly forgotten: readonly OtherDkimKey[];
}

interface RotationOptions {
  /** In place of a look-up (tests). */
  readonly findZoneServers?: FindZoneServers;
  /** Only of this domain. */
  readonly domain?: string;
  /** Without asking again soon for what waits long. */
  readonly inTurn?: true;
}

/** A record that is not there after a day will not be there in a minute. */
function isDue({ state, createdAt, checkedAt }: OtherDkimKey, nowMs: number): boolean {
  if (checkedAt === null) return true;
  const waitMs = state === 'retired' ? HOUR_MS : Math.min(HOUR_MS, (nowMs - createdAt.getTime()) / 60);
  return nowMs - checkedAt.getTime() >= waitMs;
}

/** Carries every rotation on as far as DNS and the clock allow. Any number of processes may do it at the same time. */
export async function continueDkimRotations(
  services: RotationServices,
  { findZoneServers, domain: only, inTurn }: RotationOptions = {},
): Promise<RotationProgress> {
  const { db, settings, now, log } = services;
  const progress = { switched: [] as OtherDkimKey[], retired: [] as OtherDkimKey[], forgotten: [] as OtherDkimKey[] };
  for (const key of await allOtherDkimKeys(db)) {
    if (only !== undefined && key.domain !== only.toLowerCase()) continue;
    if (key.state === 'retiring') {
      if (now() < (key.switchedAt?.getTime() ?? 0) + DKIM_RETIRE_AFTER_MS) continue;
      if (await retire(db, key.id)) progress.retired.push(key);
      continue;
    }
    if (inTurn && !isDue(key, now())) continue;
    const name = `${key.selector}._domainkey.${key.domain}`;
    const isKey = (value: string) => dkimKeyOfRecord(value) === key.publicKey;
    const answers = await askEachServer(settings, name, isKey, findZoneServers);
    const { isEverywhere, undisputedSince } = await noteAnswers(db, key, answers, now());
    if (key.state === 'retired') {
      if (![...answers.values()].every((each) => each === 'lacks')) continue;
      await db.query(`delete from dkim_rotation where id = $1 and state = 'retired'`, [key.id]);
      progress.forgotten.push(key);
    } else if (
      isEverywhere ||
      (undisputedSince !== null && now() - undisputedSince.getTime() >= SILENT_SERVER_DELAYS_MS)
    ) {
      if (!(await switchTo(services, key.id))) continue;
      progress.switched.push(key);
      log.info({ domain: key.domain, selector: key.selector }, 'the next DKIM key signs from now on');
    }
  }
  return progress;
}

async function noteAnswers(
  sql: Sql,
  key: OtherDkimKey,
  answers: ReadonlyMap<string, ServerAnswer>,
  nowMs: number,
): Promise<{ readonly isEverywhere: boolean; readonly undisputedSince: Date | null }> {
  const serversThat = (answer: ServerAnswer) =>
    [...answers].flatMap(([server, each]) => (each === answer ? [server] : []));
  const [has, lacks, silent] = [serversThat('has'), serversThat('lacks'), serversThat('silent')];
  const isEverywhere = has.length > 0 && lacks.length === 0 && silent.length === 0;
  const undisputedSince = has.length > 0 && lacks.length === 0 ? (key.undisputedSince ?? new Date(nowMs)) : null;
  const words = [
    ...(has.length > 0 ? [`${has.join(', ')} ${has.length > 1 ? 'have' : 'has'} it`] : []),
    ...(lacks.length > 0 ? [`${lacks.join(', ')} ${lacks.length > 1 ? 'do' : 'does'} not have it`] : []),
    ...(silent.length > 0 ? [`no answer from ${silent.join(', ')}`] : []),
  ].join('; ');
  await sql.query(`update dkim_rotation set checked_at = $2, dns_answer = $3, undisputed_since = $4 where id = $1`, [
    key.id,
    new Date(nowMs),
    words.slice(0, ANSWER_CHARACTERS_MAX),
    undisputedSince,
  ]);
  return { isEverywhere, undisputedSince };
}

/** One of several processes does it. @returns false: another one did, or the domain is gone */
function switchTo({ db, secrets, now }: RotationServices, id: string): Promise<boolean> {
  return db.transaction(async (sql) => {
    const [next] = await sql.query<OtherDkimKey & { sealed: string }>(
      `select domain, domain_id as "domainId", selector, public_key as "publicKey", created_at as "createdAt",
              private_key_sealed as sealed
         from dkim_rotation where id = $1 and state = 'next' for update`,
      [id],
    );
    if (next === undefined) return false;
    const { domain, domainId, selector, publicKey, createdAt } = next;
    const place = domainId === null ? instanceDkimPlace(domain) : dkimKeyPlace(domainId);
    const sealed = secrets.seal(secrets.open(next.sealed, dkimRotationPlace(id)), place);
    const values = [domainId ?? domain, selector, publicKey, sealed, createdAt];
    const [before] = await sql.query<{
      selector: string;
      publicKey: string;
      createdAt: Date;
      organizationId: string | null;
    }>(domainId === null ? SWITCH_INSTANCE : SWITCH_ORGANIZATION, values);
    if (before === undefined) return false;
    await sql.query(`delete from dkim_rotation where id = $1`, [id]);
    await sql.query(
      `insert into dkim_rotation (id, domain, domain_id, selector, public_key, state, created_at, switched_at)
       values ($1, $2, $3, $4, $5, 'retiring', $6, $7)`,
      [randomUUID(), domain, domainId, before.selector, before.publicKey, before.createdAt, new Date(now())],
    );
    if (domainId !== null && before.organizationId !== null)
      await recordAudit(
        sql,
        { ...OPERATOR, actor: SYSTEM_ACTOR },
        {
          organizationId: before.organizationId,
          action: 'domain.dkim_key_switched',
          targetId: domainId,
          details: { name: domain, selector, before: before.selector },
        },
      );
    return true;
  });
}

const SWITCH_INSTANCE = `
  with before as (select domain, selector, public_key, created_at from dkim_key where domain = $1 for update)
  update dkim_key k set selector = $2, public_key = $3, private_key_sealed = $4, created_at = $5
    from before where k.domain = before.domain
  returning before.selector, before.public_key as "publicKey", before.created_at as "createdAt",
            null as "organizationId"`;
const SWITCH_ORGANIZATION = `
  with before as (
    select id, dkim_selector, dkim_public_key, coalesce(dkim_key_created_at, created_at) as made
      from domains where id = $1 for update)
  update domains d set dkim_selector = $2, dkim_public_key = $3, dkim_private_key_sealed = $4, dkim_key_created_at = $5
    from before where d.id = before.id
  returning before.dkim_selector as selector, before.dkim_public_key as "publicKey", before.made as "createdAt",
            d.organization_id as "organizationId"`;

async function retire(sql: Sql, id: string): Promise<boolean> {
  const done = await sql.query(
    `update dkim_rotation set state = 'retired' where id = $1 and state = 'retiring' returning id`,
    [id],
  );
  return done.length > 0;
}

/** Lets the old keys of a domain retire now, as after a theft: mail on its way with their signatures may fail. */
export async function retireDkimKeys(services: RotationServices, domain: string): Promise<readonly OtherDkimKey[]> {
  const retired: OtherDkimKey[] = [];
  for (const key of await allOtherDkimKeys(services.db))
    if (key.domain === domain.toLowerCase() && key.state === 'retiring' && (await retire(services.db, key.id)))
      retired.push({ ...key, state: 'retired' });
  return retired;
}
