/**
 * Decisions about held mail. A decision is one compare-and-set on the pending row with its events; the workflow of the
 * message is told afterwards and does what the row says.
 */
import type { Sql } from '../db/database.ts';
import type { ConsentScope } from '../domain/consent.ts';
import { domainOf } from '../domain/email-address.ts';
import { CatalogueError } from '../domain/errors.ts';
import { type Actor, type EnvelopeMailbox, type EnvelopeOrganization, SYSTEM_ACTOR } from '../domain/event-envelope.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS } from '../domain/outbound.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { type ConsentRow, findConsent, findConsents } from './consent-queries.ts';
import { type NewEvent, recordEvents } from './record-event.ts';
import type { Services } from './services.ts';

type Part = Pick<Services, 'db' | 'now' | 'deliveriesDue'>;

export interface Decided {
  readonly consent: ConsentRow;
  /** Messages whose workflows are to be told. */
  readonly messageIds: readonly string[];
}

/**
 * Sets pending rows that are still in time; what is decided already is left alone. Should the signal to the workflow get
 * lost, the sweep for overdue messages gives it another one soon.
 */
const DECIDE = `
  with decided as (
    update consent set status = $2, scope = $3, reason = $4, decided_at = $5, decided_by = $6
     where id = any($1::text[]) and status = 'pending' and ($7::bool or expires_at > $5)
    returning id, message_id
  ), woken as (
    update outbound_message o set due_at = $8 from decided where o.id = decided.message_id
  )
  select id from decided`;

async function decide(
  sql: Sql,
  ids: readonly string[],
  decision: { status: 'approved' | 'denied'; scope: ConsentScope | null; reason: string | null; expired: boolean },
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
    consent.status === 'pending' ? 'The request for consent has expired.' : `It was ${consent.status} already.`,
    { fix: 'A decision is final. To send the message after all, submit it again, which asks again.' },
  );
}

/**
 * Approves. `address` and `domain` are remembered for good and approve other requests they cover.
 *
 * @throws {CatalogueError} not_found, conflict
 */
export async function approveConsent(
  services: Part,
  organizationId: string,
  consentId: string,
  scope: ConsentScope,
  caller: Caller,
): Promise<Decided> {
  const now = new Date(services.now());
  const { decided, owed } = await services.db.transaction(async (sql) => {
    const wanted = await findConsent(sql, organizationId, consentId);
    if (wanted === undefined) throw new CatalogueError('not_found');
    const decision = { status: 'approved', scope, reason: null, expired: false } as const;
    const first = await decide(sql, [consentId], decision, now, caller.actor);
    await requireDecision(sql, organizationId, consentId, first);
    const others: string[] = [];
    if (scope !== 'message') {
      const all = scope === 'address' ? wanted.recipients : wanted.recipients.map(domainOf);
      const values = [...new Set(all)].sort();
      await sql.query(REMEMBER, [organizationId, scope, values, consentId]);
      const covered = await sql.query<{ id: string }>(COVERED, [organizationId, now, scope === 'domain', values]);
      others.push(
        ...(await decide(
          sql,
          covered.map(({ id }) => id),
          decision,
          now,
          caller.actor,
        )),
      );
    }
    const rows = await findConsents(sql, organizationId, [consentId, ...others]);
    for (const { id, recipients } of rows)
      await recordAudit(sql, caller, {
        organizationId,
        action: 'consent.approved',
        targetId: id,
        details: { scope, recipients: [...recipients] },
      });
    return { decided: rows, owed: await recordEvents(sql, await decisionEvents(sql, rows, caller.actor, now)) };
  });
  if (owed > 0) services.deliveriesDue.nudge();
  return decidedOf(decided, consentId);
}

function decidedOf(rows: readonly ConsentRow[], consentId: string): Decided {
  const consent = rows.find(({ id }) => id === consentId);
  if (consent === undefined) throw new Error('a consent was decided and is not there');
  return { consent, messageIds: rows.map(({ messageId }) => messageId) };
}

const REMEMBER = `
  insert into known_recipient (organization_id, kind, value, source, consent_id)
  select $1, $2, value, 'approved', $4 from unnest($3::text[]) as value order by value
  on conflict (organization_id, kind, value) do update set source = 'approved', consent_id = excluded.consent_id`;

/**
 * Pending requests that this decision is about (one of their recipients at least) and all of whose recipients are
 * approved by now. Others whose recipients were approved before stay: in mode `always` they wait for a decision of their
 * own. One that somebody else is deciding is left to them.
 */
const COVERED = `
  select c.id from consent c
   where c.organization_id = $1 and c.status = 'pending' and c.expires_at > $2
     and exists (
       select from unnest(c.recipients) as r (address)
        where case when $3::bool then split_part(r.address, '@', -1) else r.address end = any($4::text[]))
     and not exists (
       select from unnest(c.recipients) as r (address)
        where not exists (
          select from known_recipient k
           where k.organization_id = $1 and k.source = 'approved'
             and (k.kind, k.value) in (('address', r.address), ('domain', split_part(r.address, '@', -1)))))
   order by c.id for no key update skip locked`;

/** @throws {CatalogueError} not_found, conflict */
export async function denyConsent(
  services: Part,
  organizationId: string,
  consentId: string,
  reason: string | null,
  caller: Caller,
): Promise<Decided> {
  const now = new Date(services.now());
  const { rows, owed } = await services.db.transaction(async (sql) => {
    const decision = { status: 'denied', scope: null, reason, expired: false } as const;
    const known = await findConsent(sql, organizationId, consentId);
    if (known === undefined) throw new CatalogueError('not_found');
    await requireDecision(sql, organizationId, consentId, await decide(sql, [consentId], decision, now, caller.actor));
    await recordAudit(sql, caller, {
      organizationId,
      action: 'consent.denied',
      targetId: consentId,
      details: { reason },
    });
    return {
      rows: await findConsents(sql, organizationId, [consentId]),
      owed: await endDenied(sql, consentId, organizationId, 'consent_denied', caller.actor, now),
    };
  });
  if (owed > 0) services.deliveriesDue.nudge();
  return decidedOf(rows, consentId);
}

/** Why the service itself denies: nobody decided in time, the mailbox was deleted, or the content is another one. */
export type ServiceDenial = 'expired' | 'mailbox deleted' | 'content changed';

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
export const denyByService = (services: Part, consentId: string, denial: ServiceDenial): Promise<boolean> =>
  endUndecided(services, consentId, denial, SYSTEM_ACTOR);

/**
 * The sender took the message back: there is nothing to decide any more.
 *
 * @returns false when somebody had decided
 */
export const withdrawConsent = (services: Part, consentId: string, actor: Actor): Promise<boolean> =>
  endUndecided(services, consentId, 'withdrawn', actor);

async function endUndecided(
  services: Part,
  consentId: string,
  reason: keyof typeof BLOCKED_BECAUSE,
  actor: Actor,
): Promise<boolean> {
  const now = new Date(services.now());
  const owed = await services.db.transaction(async (sql) => {
    const decision = { status: 'denied', scope: null, reason, expired: true } as const;
    const [id] = await decide(sql, [consentId], decision, now, actor);
    if (id === undefined) return undefined;
    const [row] = await sql.query<{ organization_id: string }>(`select organization_id from consent where id = $1`, [
      id,
    ]);
    return endDenied(sql, id, row?.organization_id ?? '', BLOCKED_BECAUSE[reason], actor, now);
  });
  if (owed === undefined) return false;
  if (owed > 0) services.deliveriesDue.nudge();
  return true;
}

/** Ends the message with its events. */
async function endDenied(
  sql: Sql,
  consentId: string,
  organizationId: string,
  reason: 'consent_denied' | (typeof BLOCKED_BECAUSE)[keyof typeof BLOCKED_BECAUSE],
  actor: Actor,
  now: Date,
): Promise<number> {
  const consent = await findConsent(sql, organizationId, consentId);
  if (consent === undefined) return 0;
  await sql.query(`update outbound_message set state = 'denied', finished_at = $2 where id = $1`, [
    consent.messageId,
    now,
  ]);
  const recipients = await sql.query<{ address: string }>(
    `update outbound_recipient set status = 'denied', reply = $2, code = '5.7.1', updated_at = $3
      where message_id = $1 returning address`,
    [consent.messageId, reason, now],
  );
  const [message] = await sql.query<{ from_address: string }>(
    `select from_address from outbound_message where id = $1`,
    [consent.messageId],
  );
  const about = await aboutMailbox(sql, consent.mailboxId);
  return recordEvents(sql, [
    ...(await decisionEvents(sql, [consent], actor, now)),
    {
      ...about,
      type: 'email_blocked',
      actor,
      occurredAt: now,
      data: {
        direction: 'outbound',
        messageId: consent.messageId,
        from: message?.from_address ?? about.mailbox.address,
        to: recipients.map(({ address }) => address),
        subject: consent.subject,
        reason,
        rule: null,
      },
    },
  ]);
}

async function decisionEvents(
  sql: Sql,
  consents: readonly ConsentRow[],
  actor: Actor,
  occurredAt: Date,
): Promise<NewEvent[]> {
  const mailboxes = new Map<string, Awaited<ReturnType<typeof aboutMailbox>>>();
  for (const { mailboxId } of consents)
    if (!mailboxes.has(mailboxId)) mailboxes.set(mailboxId, await aboutMailbox(sql, mailboxId));
  return consents.flatMap((consent) => {
    const about = mailboxes.get(consent.mailboxId);
    return about === undefined ? [] : [decisionEvent(consent, about, actor, occurredAt)];
  });
}

function decisionEvent(
  consent: ConsentRow,
  about: Awaited<ReturnType<typeof aboutMailbox>>,
  actor: Actor,
  occurredAt: Date,
): NewEvent {
  const decidedAt = occurredAt.toISOString();
  const approved = consent.status === 'approved';
  return {
    ...about,
    type: approved ? 'outbound_consent_approved' : 'outbound_consent_denied',
    actor,
    occurredAt,
    data: {
      consentId: consent.id,
      messageId: consent.messageId,
      recipients: consent.recipients,
      subject: consent.subject,
      preview: consent.preview,
      expiresAt: consent.expiresAt.toISOString(),
      decision: approved ? { scope: consent.scope, decidedAt } : { reason: consent.reason, decidedAt },
    },
  };
}

async function aboutMailbox(
  sql: Sql,
  mailboxId: string,
): Promise<{ organization: EnvelopeOrganization; mailbox: EnvelopeMailbox }> {
  const [row] = await sql.query<EnvelopeMailbox & { organization: EnvelopeOrganization }>(
    `select m.id, m.name, m.address, m.local_part as "localPart", m.domain,
            json_build_object('id', o.id, 'name', o.name, 'slug', o.slug) as organization
       from mailboxes m join organizations o on o.id = m.organization_id where m.id = $1`,
    [mailboxId],
  );
  if (row === undefined) throw new Error('a held message has no mailbox');
  const { organization, ...mailbox } = row;
  return { organization, mailbox };
}
