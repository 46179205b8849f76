/**
 * Decisions about held mail, and the request for one as recorded.
 *
 *   pending ──approve (address, domain, once), by two persons where a rule says so──▶ approved
 *      ├──deny, or send back with a comment, by a person──▶ denied
 *      └──expired, withdrawn, mailbox deleted, content changed──▶ denied by the service
 *
 * A decision is one compare-and-set on the pending row with its events; the workflow of the message is signalled
 * afterwards and acts on the row. The log of decisions is in the order of all changes of a mailbox (`change_seq`, under the
 * lock of the counter), by which a stream is resumed.
 */
import { recordEvents } from '#core/events/record-event.ts';
import { recordAudit, recordAudits } from '#core/organizations/audit.ts';
import {
  hasDecisionRules,
  requireApprover,
  requireResponsible,
  thoseToDecide,
} from '#core/organizations/decision-rules.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { type ConsentScope, DECIDED_AT_ONCE_MAX } from '#domain/sending/consent.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { type Actor, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { writeApprovalNotices } from './approval-notices.ts';
import { aboutMailboxes, decisionEvents, logDecisions } from './decision-records.ts';
import { type ConsentRow, findConsent, findConsents } from './find-consents.ts';
import { isFirstApproval, keepFirstApproval, notChangedAlone } from './first-approval.ts';
import { requireHash } from './shown-message.ts';

type Part = Pick<Services, 'db' | 'now' | 'deliveriesDue'>;

export interface Decided {
  readonly consent: ConsentRow;
  /** Messages whose workflows must be signalled. */
  readonly messageIds: readonly string[];
  /** The approval covers other requests that are not decided yet: `approveCovered`. */
  readonly more: boolean;
}

/**
 * Decides pending rows that have not expired; decided ones do not change. If the signal to the workflow is lost, the
 * sweep for overdue messages soon sends another.
 */
const DECIDE = `
  with decided as (
    update consent set status = $2, scope = $3, reason = $4, decided_at = $5, decided_by = $6, returned = $9,
           decided_with = $10, undo_until = (
             select $5::timestamptz + make_interval(secs => (o.settings ->> 'undoSeconds')::int) from organizations o
              where o.id = organization_id and $2 = 'approved' and (o.settings ->> 'undoSeconds')::int > 0)
     where id = any($1::text[]) and status = 'pending' and ($7::bool or expires_at > $5)
    returning id, message_id
  ), woken as (
    update outbound_message o set due_at = $8 from decided where o.id = decided.message_id
  )
  select id from decided`;

async function decide(
  sql: Sql,
  ids: readonly string[],
  decision: {
    status: 'approved' | 'denied';
    scope: ConsentScope | null;
    reason: string | null;
    expired: boolean;
    returned?: boolean;
    /** The request whose approval covers these. */
    decidedWith?: string;
  },
  now: Date,
  actor: Actor,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(DECIDE, [
    ids,
    decision.status,
    decision.scope,
    decision.reason,
    now,
    JSON.stringify(actor),
    decision.expired,
    new Date(now.getTime() + OUTBOUND_DECIDED_OVERDUE_MS),
    decision.returned ?? false,
    decision.decidedWith ?? null,
  ]);
  return rows.map(({ id }) => id);
}

/** @throws {CatalogueError} not_found; conflict when it is decided already or out of time */
async function requireDecision(
  sql: Sql,
  organizationId: string,
  consentId: string,
  decided: readonly string[],
): Promise<void> {
  if (decided.length > 0) return;
  const consent = await findConsent(sql, organizationId, consentId);
  if (consent === undefined) throw new CatalogueError('not_found');
  throw new CatalogueError(
    'conflict',
    consent.status === 'pending'
      ? 'The request for consent has expired.'
      : `The request was already ${consent.returned ? 'sent back' : consent.status}.`,
    { fix: 'A decision is final. To send the message after all, submit it again, which creates a new request.' },
  );
}

/**
 * Approves. `address` and `domain` are remembered permanently and approve other requests they cover, at most
 * {@link DECIDED_AT_ONCE_MAX} in this transaction.
 *
 * Where a rule asks for two persons, the first approval is kept with the hash of what was approved, and the request waits.
 *
 * @param edit checks or changes the message and its request in the transaction of the decision, once it is this caller's
 * @throws {CatalogueError} not_found, conflict, forbidden by a rule, and what `edit` throws
 */
export async function approveConsent(
  services: Part,
  organizationId: string,
  consentId: string,
  scope: ConsentScope,
  caller: Caller,
  edit?: (sql: Sql, persons: 1 | 2) => Promise<void>,
): Promise<Decided> {
  const now = new Date(services.now());
  const done = await services.db.transaction(async (sql) => {
    const asked = await findConsent(sql, organizationId, consentId);
    if (asked === undefined) throw new CatalogueError('not_found');
    const nowMs = now.getTime();
    const persons = await requireApprover(sql, organizationId, asked, rememberedBy(scope, asked), caller, nowMs);
    if (persons === 2 && (await isFirstApproval(sql, consentId, caller, now))) {
      await edit?.(sql, persons);
      await keepFirstApproval(sql, organizationId, consentId, caller, now);
      return { decided: await findConsents(sql, organizationId, [consentId]), owed: 0, more: false };
    }
    const first = await decide(sql, [consentId], approvalOf(scope), now, caller.actor);
    await requireDecision(sql, organizationId, consentId, first);
    await edit?.(sql, persons);
    const wanted = edit === undefined ? asked : ((await findConsent(sql, organizationId, consentId)) ?? asked);
    // Other recipients may be for other people.
    if (!wanted.contentHash.equals(asked.contentHash))
      if ((await requireApprover(sql, organizationId, wanted, rememberedBy(scope, wanted), caller, nowMs)) > persons)
        throw notChangedAlone();
    if (scope === 'message')
      return { ...(await recordApprovals(sql, organizationId, first, scope, caller, now)), more: false };
    await sql.query(REMEMBER, [organizationId, scope, valuesOf(scope, wanted), consentId]);
    const others = await decideCovered(
      sql,
      organizationId,
      { id: consentId, scope, values: valuesOf(scope, wanted) },
      caller,
      now,
    );
    const recorded = await recordApprovals(sql, organizationId, [consentId, ...others.ids], scope, caller, now);
    if (others.more) await sql.query(`update consent set releases_others = true where id = $1`, [consentId]);
    return { ...recorded, more: others.more };
  });
  if (done.owed > 0) services.deliveriesDue.wake();
  return decidedOf(done.decided, consentId, done.more);
}

/**
 * Decides the next portion of what an approval covers, in a transaction of its own. If it fails, or the process ends,
 * `approvalsToContinue` finds the approval again.
 *
 * @param caller default: the person who approved, as far as the request says it
 */
export async function approveCovered(
  services: Part,
  organizationId: string,
  consentId: string,
  caller?: Caller,
): Promise<Pick<Decided, 'messageIds' | 'more'>> {
  const now = new Date(services.now());
  const done = await services.db.transaction(async (sql) => {
    // Who takes it back meanwhile waits for this portion, or this one finds nothing to do.
    const standing = await sql.query(`select 1 from consent where id = $1 and status = 'approved' for no key update`, [
      consentId,
    ]);
    const approval = standing.length === 0 ? undefined : await findConsent(sql, organizationId, consentId);
    const scope = approval?.scope;
    if (approval === undefined || (scope !== 'address' && scope !== 'domain')) return undefined;
    const by = caller ?? { actor: approval.decidedBy ?? SYSTEM_ACTOR, ipAddress: null, requestId: null };
    const others = await decideCovered(
      sql,
      organizationId,
      { id: consentId, scope, values: valuesOf(scope, approval) },
      by,
      now,
    );
    const recorded = await recordApprovals(sql, organizationId, others.ids, scope, by, now);
    if (!others.more) await sql.query(`update consent set releases_others = false where id = $1`, [consentId]);
    return { ...recorded, more: others.more };
  });
  if (done === undefined) return { messageIds: [], more: false };
  if (done.owed > 0) services.deliveriesDue.wake();
  return { messageIds: done.decided.map(({ messageId }) => messageId), more: done.more };
}

const approvalOf = (scope: ConsentScope) => ({ status: 'approved', scope, reason: null, expired: false }) as const;

const rememberedBy = (scope: ConsentScope, consent: ConsentRow) =>
  scope === 'message' ? [] : valuesOf(scope, consent);

const valuesOf = (scope: ConsentScope, { recipients }: Pick<ConsentRow, 'recipients'>): string[] =>
  [...new Set(scope === 'address' ? recipients : recipients.map(domainOf))].sort();

async function decideCovered(
  sql: Sql,
  organizationId: string,
  { id, scope, values }: { readonly id: string; readonly scope: ConsentScope; readonly values: readonly string[] },
  caller: Caller,
  now: Date,
): Promise<{ ids: readonly string[]; more: boolean }> {
  // Others may be responsible for them, or two persons.
  if (await hasDecisionRules(sql, organizationId)) return { ids: [], more: false };
  const covered = await sql.query<{ id: string }>(COVERED, [
    organizationId,
    now,
    scope === 'domain',
    values,
    DECIDED_AT_ONCE_MAX,
  ]);
  const more = covered.length === DECIDED_AT_ONCE_MAX;
  if (covered.length === 0) return { ids: [], more };
  const decision = { ...approvalOf(scope), decidedWith: id };
  const ids = await decide(
    sql,
    covered.map((each) => each.id),
    decision,
    now,
    caller.actor,
  );
  return { ids, more };
}

/** What is written about approved requests: their messages wait no longer, audit log, events, order of decisions. */
async function recordApprovals(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
  scope: ConsentScope,
  caller: Caller,
  now: Date,
): Promise<{ decided: readonly ConsentRow[]; owed: number }> {
  if (ids.length === 0) return { decided: [], owed: 0 };
  const decided = await findConsents(sql, organizationId, ids);
  await sql.query(WAITS_NO_LONGER, [decided.map(({ messageId }) => messageId)]);
  await recordAudits(
    sql,
    decided.map(({ id, recipients, changes }) => ({
      caller,
      entry: {
        organizationId,
        action: 'consent.approved',
        targetId: id,
        details: { scope, recipients: [...recipients], ...(changes === null ? {} : { changes }) },
      },
    })),
  );
  const owed = await recordEvents(sql, await decisionEvents(sql, decided, caller.actor, now));
  await logDecisions(sql, decided);
  return { decided, owed };
}

/** From now on nothing says that it is held, whenever its workflow looks at it. */
const WAITS_NO_LONGER = `update outbound_message set state = 'scheduled' where id = any($1::text[]) and state = 'held'`;

function decidedOf(rows: readonly ConsentRow[], consentId: string, more: boolean): Decided {
  const consent = rows.find(({ id }) => id === consentId);
  if (consent === undefined) throw new Error('a consent was decided and is not there');
  return { consent, messageIds: rows.map(({ messageId }) => messageId), more };
}

const REMEMBER = `
  insert into known_recipient (organization_id, kind, value, source, consent_id)
  select $1, $2, value, 'approved', $4 from unnest($3::text[]) as value order by value
  on conflict (organization_id, kind, value) do update
     set source = 'approved', consent_id = excluded.consent_id, last_used_at = now()`;

/**
 * Pending requests that this decision is about (one of their recipients at least) and all of whose recipients are
 * approved by now. Other requests stay pending even if their recipients were approved before: in mode `always` each
 * needs its own decision, messages over a budget wait for that, not for their recipients, passages of other mail are each a
 * decision of their own, and a person wants to see the changed version of a message that was sent back. A request that
 * somebody else is deciding is skipped.
 */
const COVERED = `
  select c.id from consent c
   where c.organization_id = $1 and c.status = 'pending' and c.expires_at > $2
     and coalesce(c.held_because, '') not in ('over_message_budget', 'over_new_recipient_budget')
     and not c.carries_passages
     and c.resubmits is null
     and exists (
       select from unnest(c.recipients) as r (address)
        where case when $3::bool then split_part(r.address, '@', -1) else r.address end = any($4::text[]))
     and not exists (
       select from unnest(c.recipients) as r (address)
        where not exists (
          select from known_recipient k
           where k.organization_id = $1 and k.source = 'approved'
             and (k.kind, k.value) in (('address', r.address), ('domain', split_part(r.address, '@', -1)))))
   order by c.id limit $5 for no key update skip locked`;

/**
 * Denies, or sends back. One person is enough.
 *
 * @param reason of a returned message the comment, by which its sender may change it
 * @param sha256 hash of the message that the person was shown, in hexadecimal digits; undefined: not compared
 * @throws {CatalogueError} not_found; forbidden by a rule; conflict, also if the message is not the one that was shown
 */
export async function denyConsent(
  services: Part,
  organizationId: string,
  consentId: string,
  reason: string | null,
  caller: Caller,
  { sha256, returned = false }: { readonly sha256?: string | undefined; readonly returned?: boolean } = {},
): Promise<Decided> {
  const now = new Date(services.now());
  const { rows, owed } = await services.db.transaction(async (sql) => {
    const decision = { status: 'denied', scope: null, reason, expired: false, returned } as const;
    const known = await findConsent(sql, organizationId, consentId);
    if (known === undefined) throw new CatalogueError('not_found');
    await requireResponsible(sql, organizationId, known, caller, now.getTime());
    await requireDecision(sql, organizationId, consentId, await decide(sql, [consentId], decision, now, caller.actor));
    // The row is locked by the decision: what it says now is what is denied.
    if (sha256 !== undefined) requireHash((await findConsent(sql, organizationId, consentId)) ?? known, sha256);
    await recordAudit(sql, caller, {
      organizationId,
      action: returned ? 'consent.returned' : 'consent.denied',
      targetId: consentId,
      details: { reason },
    });
    const denied = await findConsents(sql, organizationId, [consentId]);
    const owedNow = await endDenied(sql, denied, 'consent_denied', caller.actor, now);
    await logDecisions(sql, denied);
    return { rows: denied, owed: owedNow };
  });
  if (owed > 0) services.deliveriesDue.wake();
  return decidedOf(rows, consentId, false);
}

/**
 * Denies several at once, in one transaction with few statements. Requests that are decided, expired, of another
 * organization or for others to decide are left out; signal the workflows of the others.
 */
export async function denySeveral(
  services: Part,
  organizationId: string,
  consentIds: readonly string[],
  reason: string | null,
  caller: Caller,
): Promise<readonly ConsentRow[]> {
  const now = new Date(services.now());
  const { denied, owed } = await services.db.transaction(async (sql) => {
    const named = await findConsents(sql, organizationId, consentIds);
    const own = (await thoseToDecide(sql, organizationId, named, caller, now.getTime())).map(({ id }) => id).sort();
    const decision = { status: 'denied', scope: null, reason, expired: false } as const;
    const rows = await findConsents(sql, organizationId, await decide(sql, own, decision, now, caller.actor));
    if (rows.length === 0) return { denied: rows, owed: 0 };
    await recordAudits(
      sql,
      rows.map(({ id }) => ({
        caller,
        entry: { organizationId, action: 'consent.denied' as const, targetId: id, details: { reason } },
      })),
    );
    const owedNow = await endDenied(sql, rows, 'consent_denied', caller.actor, now);
    await logDecisions(sql, rows);
    return { denied: rows, owed: owedNow };
  });
  if (owed > 0) services.deliveriesDue.wake();
  return denied;
}

/** Why the service itself denies: nobody decided in time, the mailbox was deleted, or the content has changed. */
type ServiceDenial = 'expired' | 'mailbox deleted' | 'content changed';

const BLOCKED_BECAUSE = {
  expired: 'consent_expired',
  'mailbox deleted': 'mailbox_not_active',
  'content changed': 'content_changed',
  withdrawn: 'cancelled',
} as const satisfies Record<ServiceDenial | 'withdrawn', string>;

/**
 * A denial by the service.
 *
 * @returns false when somebody had decided after all
 */
export async function denyByService(services: Part, consentId: string, denial: ServiceDenial): Promise<boolean> {
  const now = new Date(services.now());
  const owed = await services.db.transaction(async (sql) => {
    const ended = await endUndecided(sql, consentId, denial, SYSTEM_ACTOR, now);
    if (ended !== undefined) await logDecisions(sql, [ended.consent]);
    return ended?.owed;
  });
  if (owed === undefined) return false;
  if (owed > 0) services.deliveriesDue.wake();
  return true;
}

/** A request that ended without a person's decision. */
export interface EndedRequest {
  readonly consent: Pick<ConsentRow, 'id' | 'mailboxId'>;
  /** Webhook deliveries to dispatch. */
  readonly owed: number;
}

/**
 * The sender withdrew the message: nothing remains to be decided. Part of the caller's transaction, who calls
 * `logDecisions` at its end.
 *
 * @returns undefined when somebody had decided
 */
export const withdrawConsent = (
  sql: Sql,
  consentId: string,
  actor: Actor,
  now: Date,
): Promise<EndedRequest | undefined> => endUndecided(sql, consentId, 'withdrawn', actor, now);

async function endUndecided(
  sql: Sql,
  consentId: string,
  reason: keyof typeof BLOCKED_BECAUSE,
  actor: Actor,
  now: Date,
): Promise<EndedRequest | undefined> {
  const decision = { status: 'denied', scope: null, reason, expired: true } as const;
  const [id] = await decide(sql, [consentId], decision, now, actor);
  if (id === undefined) return undefined;
  const [row] = await sql.query<{ organizationId: string; mailboxId: string }>(
    `select organization_id as "organizationId", mailbox_id as "mailboxId" from consent where id = $1`,
    [id],
  );
  const { organizationId = '', mailboxId = '' } = row ?? {};
  const denied = await findConsents(sql, organizationId, [id]);
  if (reason === 'expired') {
    const request = { organizationId, consentId: id, subject: denied[0]?.subject ?? '' };
    await writeApprovalNotices(sql, 'approval_expired', request, now.getTime());
  }
  return { consent: { id, mailboxId }, owed: await endDenied(sql, denied, BLOCKED_BECAUSE[reason], actor, now) };
}

/** Ends the messages of denied requests, with their events. */
async function endDenied(
  sql: Sql,
  denied: readonly ConsentRow[],
  reason: 'consent_denied' | (typeof BLOCKED_BECAUSE)[keyof typeof BLOCKED_BECAUSE],
  actor: Actor,
  now: Date,
): Promise<number> {
  const ids = denied.map(({ messageId }) => messageId);
  const messages = await sql.query<{ id: string; from: string }>(
    `update outbound_message set state = 'denied', finished_at = $2 where id = any($1::text[])
     returning id, from_address as "from"`,
    [ids, now],
  );
  const recipients = await sql.query<{ messageId: string; address: string }>(
    `with ended as (
       update outbound_recipient set status = 'denied', reply = $2, code = '5.7.1', updated_at = $3
        where message_id = any($1::text[]) returning message_id, number, address
     ) select message_id as "messageId", address from ended order by message_id, number`,
    [ids, reason, now],
  );
  const about = await aboutMailboxes(sql, [...new Set(denied.map(({ mailboxId }) => mailboxId))]);
  const blocked = denied.map(({ mailboxId, messageId, subject }) => {
    const names = about.get(mailboxId);
    if (names === undefined) throw new Error('a held message has no mailbox');
    return {
      ...names,
      type: 'email_blocked' as const,
      actor,
      occurredAt: now,
      data: {
        direction: 'outbound',
        messageId,
        from: messages.find(({ id }) => id === messageId)?.from ?? names.mailbox.address,
        to: recipients.filter((each) => each.messageId === messageId).map(({ address }) => address),
        subject,
        reason,
        rule: null,
      },
    };
  });
  return recordEvents(sql, [...(await decisionEvents(sql, denied, actor, now)), ...blocked]);
}
