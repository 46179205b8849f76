/**
 * Rules who decides, as an organization keeps them, and the one place where a decision is compared with them: for sessions,
 * keys, links of notices, approvals in advance and allow lists alike.
 */
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  type ActiveDeputy,
  DECISION_RULES_MAX,
  type DecisionRule,
  mayAllowAhead,
  type Responsible,
  whoDecides,
} from '#domain/sending/decision-rules.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { recordAudit } from './audit.ts';

export interface StoredDecisionRule extends DecisionRule {
  readonly id: string;
  readonly createdBy: Actor;
  readonly createdAt: Date;
}

const COLUMNS = `
  id, mailbox_group as "mailboxGroup", recipients, persons, hours, escalates_after_hours as "escalatesAfterHours",
  created_by as "createdBy", created_at as "createdAt",
  array(select m.id from members m where m.organization_id = r.organization_id and m.id = any(r.member_ids) order by 1)
    as "memberIds"`;

/** In the order in which they were made; one more than `limit`. */
export const listDecisionRules = (
  sql: Sql,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<StoredDecisionRule[]> =>
  sql.query<StoredDecisionRule>(
    `select ${COLUMNS} from decision_rule r where organization_id = $1 and ($2::text is null or id > $2)
      order by id limit $3`,
    [organizationId, page.after, page.limit + 1],
  );

type Part = Pick<Services, 'db' | 'now'>;

/** @throws {CatalogueError} invalid_request: somebody is no member; conflict: there are too many */
export async function createDecisionRule(
  services: Part,
  organizationId: string,
  rule: DecisionRule,
  caller: Caller,
): Promise<StoredDecisionRule> {
  const now = new Date(services.now());
  const id = newId('decisionRule', now.getTime());
  const recipients = [...new Set(rule.recipients.map((each) => each.toLowerCase().replace(/^@/, '')))].sort();
  const memberIds = [...new Set(rule.memberIds)].sort();
  return services.db.transaction(async (sql) => {
    // Concurrent creations wait for each other here, so that the limit counts all of them.
    await sql.query(`select 1 from organizations where id = $1 for no key update`, [organizationId]);
    const [counted] = await sql.query<{ rules: number; members: number }>(
      `select (select count(*)::int from decision_rule where organization_id = $1) as rules,
              (select count(*)::int from members where organization_id = $1 and id = any($2::text[])) as members`,
      [organizationId, memberIds],
    );
    if (counted?.members !== memberIds.length)
      throw new CatalogueError('invalid_request', undefined, {
        details: [{ path: '/memberIds', message: 'contains somebody who is not a member of the organization' }],
      });
    if (counted.rules >= DECISION_RULES_MAX)
      throw new CatalogueError('conflict', `The organization has ${DECISION_RULES_MAX} rules already.`, {
        fix: 'Delete one of them, or name several recipients in one.',
      });
    const { mailboxGroup, persons, hours, escalatesAfterHours } = rule;
    const values = [
      id,
      organizationId,
      mailboxGroup,
      recipients,
      memberIds,
      persons,
      hours === null ? null : JSON.stringify(hours),
      escalatesAfterHours,
      JSON.stringify(caller.actor),
      now,
    ];
    await sql.query(
      `insert into decision_rule (id, organization_id, mailbox_group, recipients, member_ids, persons, hours,
         escalates_after_hours, created_by, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      values,
    );
    await recordAudit(sql, caller, {
      organizationId,
      action: 'decision_rule.created',
      targetId: id,
      details: { mailboxGroup, recipients, memberIds, persons, hours, escalatesAfterHours },
    });
    return { ...rule, id, recipients, memberIds, createdBy: caller.actor, createdAt: now };
  });
}

/** @throws {CatalogueError} not_found */
export async function deleteDecisionRule(
  services: Part,
  organizationId: string,
  id: string,
  caller: Caller,
): Promise<void> {
  await services.db.transaction(async (sql) => {
    const rows = await sql.query(`delete from decision_rule where id = $1 and organization_id = $2 returning 1`, [
      id,
      organizationId,
    ]);
    if (rows.length === 0) throw new CatalogueError('not_found');
    await recordAudit(sql, caller, { organizationId, action: 'decision_rule.deleted', targetId: id, details: {} });
  });
}

interface RulesInForce {
  readonly rules: readonly DecisionRule[];
  readonly deputies: readonly ActiveDeputy[];
}

/** All of an organization, with who is a deputy now. */
async function rulesInForce(sql: Sql, organizationId: string, nowMs: number): Promise<RulesInForce> {
  const rules = await sql.query<DecisionRule>(
    `select ${COLUMNS} from decision_rule r where organization_id = $1 order by id`,
    [organizationId],
  );
  if (rules.length === 0) return { rules, deputies: [] };
  const deputies = await sql.query<ActiveDeputy>(
    `select m.id as "memberId", d.id as "deputyId" from members m
       join members d on d.id = m.deputy_id and d.organization_id = m.organization_id
      where m.organization_id = $1 and m.deputy_from <= $2 and m.deputy_until > $2`,
    [organizationId, new Date(nowMs)],
  );
  return { rules, deputies };
}

/** What a decision is about. */
export interface DecidedConsent {
  readonly mailboxId: string;
  readonly recipients: readonly string[];
  readonly createdAt: Date;
}

/** Who may decide about a request now. */
export async function responsibleFor(
  sql: Sql,
  organizationId: string,
  consent: DecidedConsent,
  nowMs: number,
): Promise<Responsible> {
  const { rules, deputies } = await rulesInForce(sql, organizationId, nowMs);
  if (rules.length === 0) return { memberIds: null, persons: 1 };
  const { recipients, createdAt } = consent;
  const mailboxGroup = await groupOf(sql, consent.mailboxId);
  const about = { mailboxGroup, recipients, createdAtMs: createdAt.getTime() };
  return whoDecides(rules, deputies, about, nowMs);
}

/**
 * Whether this caller is among them. Where a rule applies, a program is nobody: neither responsible nor one of two persons.
 *
 * @returns how many persons must approve
 * @throws {CatalogueError} forbidden
 */
export async function requireResponsible(
  sql: Sql,
  organizationId: string,
  consent: DecidedConsent,
  caller: Caller,
  nowMs: number,
): Promise<1 | 2> {
  const { memberIds, persons, escalatesAtMs } = await responsibleFor(sql, organizationId, consent, nowMs);
  if (memberIds === null && persons === 1) return 1;
  const memberId = await memberOf(sql, organizationId, caller);
  if (memberId === null)
    throw new CatalogueError('forbidden', 'A rule says which people decide about this message; a program may not.');
  if (memberIds !== null && !memberIds.includes(memberId))
    throw new CatalogueError('forbidden', 'A rule names other members who decide about this message.', {
      fix: `Ask one of them. Every member may decide from ${new Date(escalatesAtMs ?? nowMs).toISOString()} on.`,
    });
  return persons;
}

/** Those that the rules let this caller decide about. */
export async function thoseToDecide<Request extends DecidedConsent>(
  sql: Sql,
  organizationId: string,
  named: readonly Request[],
  caller: Caller,
  nowMs: number,
): Promise<readonly Request[]> {
  if (!(await hasDecisionRules(sql, organizationId))) return named;
  const own: Request[] = [];
  for (const consent of named) {
    try {
      await requireResponsible(sql, organizationId, consent, caller, nowMs);
      own.push(consent);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
    }
  }
  return own;
}

/**
 * That recipients may be allowed for good, or in advance, by this caller.
 *
 * @param mailboxId of the only mailbox that they are allowed for; null: for all
 * @throws {CatalogueError} forbidden
 */
export async function requireAllowedAhead(
  sql: Sql,
  organizationId: string,
  recipients: readonly string[],
  caller: Caller,
  nowMs: number,
  mailboxId: string | null = null,
): Promise<void> {
  const { rules, deputies } = await rulesInForce(sql, organizationId, nowMs);
  if (rules.length === 0) return;
  const memberId = await memberOf(sql, organizationId, caller);
  const group = mailboxId === null ? undefined : await groupOf(sql, mailboxId);
  if (mayAllowAhead(rules, deputies, recipients, memberId, group)) return;
  throw new CatalogueError(
    'forbidden',
    'A rule about these recipients names other members, or asks for two persons for each message.',
    { fix: 'Approve single messages, or change the rules who decides.' },
  );
}

/**
 * The same for an approval that also remembers recipients.
 *
 * @param remembered addresses or domains; none: it is for the message alone
 * @throws {CatalogueError} forbidden
 */
export async function requireApprover(
  sql: Sql,
  organizationId: string,
  consent: DecidedConsent,
  remembered: readonly string[],
  caller: Caller,
  nowMs: number,
): Promise<1 | 2> {
  const persons = await requireResponsible(sql, organizationId, consent, caller, nowMs);
  if (remembered.length > 0)
    await requireAllowedAhead(sql, organizationId, [...consent.recipients, ...remembered], caller, nowMs);
  return persons;
}

async function groupOf(sql: Sql, mailboxId: string): Promise<string | null> {
  const [mailbox] = await sql.query<{ group: string | null }>(
    `select group_name as "group" from mailboxes where id = $1`,
    [mailboxId],
  );
  return mailbox?.group ?? null;
}

async function memberOf(sql: Sql, organizationId: string, { actor }: Caller): Promise<string | null> {
  if (actor.type !== 'user') return null;
  const [member] = await sql.query<{ id: string }>(
    `select id from members where organization_id = $1 and user_id = $2`,
    [organizationId, actor.id],
  );
  return member?.id ?? null;
}

/** Whether the organization has any rule: then an approval of one message releases no others. */
export async function hasDecisionRules(sql: Sql, organizationId: string): Promise<boolean> {
  const rows = await sql.query(`select 1 from decision_rule where organization_id = $1 limit 1`, [organizationId]);
  return rows.length > 0;
}
