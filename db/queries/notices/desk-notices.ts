import type { Sql } from '#db/database.ts';
import type { HeldReason } from '#domain/mail/screening.ts';
import type { ApprovalMailMode } from '#domain/sending/approval-notices.ts';
import type { DutyHours } from '#domain/sending/decision-rules.ts';
import type { DigestSchedule, IncomingMailMode } from '#domain/sending/desk-notices.ts';

/** How a member wants to be notified; null: nothing was chosen. */
export interface DeskSettings {
  readonly memberId: string;
  readonly organizationId: string;
  readonly email: string;
  readonly approvals: ApprovalMailMode | null;
  readonly incoming: IncomingMailMode | null;
  readonly digest: DigestSchedule | null;
  readonly quietHours: DutyHours | null;
}

const SETTINGS = `
  m.id as "memberId", m.organization_id as "organizationId", u.email, s.approvals, s.incoming, s.digest,
  s.quiet_hours as "quietHours"`;
const MEMBERS = `members m join users u on u.id = m.user_id left join member_notice_settings s on s.member_id = m.id`;

/** Of one member; undefined: the membership is over. */
export async function findDeskSettings(sql: Sql, memberId: string): Promise<DeskSettings | undefined> {
  const [row] = await sql.query<DeskSettings>(`select ${SETTINGS} from ${MEMBERS} where m.id = $1`, [memberId]);
  return row;
}

/** The quiet hours of a member to whom a notice about held mail is written; undefined: it is not about held mail. */
export async function quietHoursOf(sql: Sql, noticeId: string): Promise<DutyHours | null | undefined> {
  const [row] = await sql.query<{ quiet: DutyHours | null }>(
    `select s.quiet_hours as quiet from member_notices n
       left join approval_notices a on a.notice_id = n.id
       left join member_notice_settings s on s.member_id = coalesce(a.member_id, n.target_id)
      where n.id = $1`,
    [noticeId],
  );
  return row?.quiet;
}

/** Members without a row: the last day of their digests is none. @returns their schedules */
export const membersWithoutDesk = (
  sql: Sql,
  limit: number,
): Promise<{ memberId: string; organizationId: string; digest: DigestSchedule | null }[]> =>
  sql.query(
    `select m.id as "memberId", m.organization_id as "organizationId", s.digest
       from members m left join member_notice_settings s on s.member_id = m.id
      where not exists (select from member_desk_notice d where d.member_id = m.id) order by m.id limit $1`,
    [limit],
  );

/** Creates the row of a member, or sets when the next digest is due. */
export async function setDigestAt(
  sql: Sql,
  { memberId, organizationId }: Pick<DeskSettings, 'memberId' | 'organizationId'>,
  digestAt: Date,
  now: Date,
): Promise<void> {
  await sql.query(
    `insert into member_desk_notice (member_id, organization_id, digest_at, incoming_after, incoming_until)
     select id, organization_id, $3, $4, $4 from members where id = $1 and organization_id = $2
     on conflict (member_id) do update set digest_at = $3`,
    [memberId, organizationId, digestAt, now],
  );
}

/** When the last digest of a member was due; waits for one that is being written. */
export async function lastDigestOf(sql: Sql, memberId: string): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>(
    `select digested_at as at from member_desk_notice where member_id = $1 for update`,
    [memberId],
  );
  return row?.at ?? null;
}

const ACTIVE = `join organizations o on o.id = d.organization_id and o.suspended_at is null`;

export interface DueDigest extends DeskSettings {
  readonly digestAt: Date;
  readonly incomingWaits: boolean;
  readonly outgoingWaits: boolean;
}

/** Locks members whose digest is due; one transaction writes each. Those of suspended organizations wait. */
export const takeDueDigests = (sql: Sql, now: Date, limit: number): Promise<DueDigest[]> =>
  sql.query<DueDigest>(
    `with due as (
       select d.member_id, d.digest_at from member_desk_notice d ${ACTIVE}
        where d.digest_at <= $1 order by d.digest_at limit $2 for update of d skip locked)
     select ${SETTINGS}, due.digest_at as "digestAt",
            exists (select from held_arrival h where h.organization_id = m.organization_id and h.state = 'held')
              as "incomingWaits",
            exists (select from consent c where c.organization_id = m.organization_id and c.status = 'pending'
                       and c.expires_at > $1) as "outgoingWaits"
       from due join ${MEMBERS} on m.id = due.member_id`,
    [now, limit],
  );

export async function recordDigest(
  sql: Sql,
  memberId: string,
  { due, next }: { readonly due: Date; readonly next: Date },
): Promise<void> {
  await sql.query(
    `update member_desk_notice set digested_before = digested_at, digested_at = $2, digest_at = $3 where member_id = $1`,
    [memberId, due, next],
  );
}

/** Locks members who want to know of incoming mail at once, and for whom some is held since the last notice. */
export const takeDueIncoming = (
  sql: Sql,
  { notifiedBefore, arrivedUntil }: { readonly notifiedBefore: Date; readonly arrivedUntil: Date },
  after: string,
  limit: number,
): Promise<DeskSettings[]> =>
  sql.query<DeskSettings>(
    `with due as (
       select d.member_id from member_notice_settings s
         join member_desk_notice d on d.member_id = s.member_id ${ACTIVE}
        where s.incoming = 'at_once' and d.member_id > $3 and (d.incoming_notified_at is null or d.incoming_notified_at <= $1)
          and exists (select from held_arrival h where h.organization_id = d.organization_id and h.state = 'held'
                         and h.received_at > d.incoming_until and h.received_at <= $2)
          -- One that is not sent yet will list it.
          and not exists (select from member_notices n where n.organization_id = d.organization_id and n.kind = 'held_mail'
                             and n.target_id = d.member_id and n.state = 'waiting')
        order by d.member_id limit $4 for update of d skip locked)
     select ${SETTINGS} from due join ${MEMBERS} on m.id = due.member_id order by m.id`,
    [notifiedBefore, arrivedUntil, after, limit],
  );

export async function recordIncoming(sql: Sql, memberId: string, arrivedUntil: Date, now: Date): Promise<void> {
  await sql.query(
    `update member_desk_notice set incoming_notified_at = $3, incoming_after = incoming_until, incoming_until = $2
      where member_id = $1`,
    [memberId, arrivedUntil, now],
  );
}

/** A notice that is being sent lists what arrived until now. */
export async function extendIncoming(sql: Sql, memberId: string, arrivedUntil: Date): Promise<void> {
  await sql.query(`update member_desk_notice set incoming_until = greatest(incoming_until, $2) where member_id = $1`, [
    memberId,
    arrivedUntil,
  ]);
}

/** Held incoming mail of one sender. */
export interface WaitingSender {
  /** Empty: none, or several authors. */
  readonly author: string;
  readonly proven: boolean;
  readonly messages: number;
  /** Senders in all. */
  readonly senders: number;
  /** Messages in all. */
  readonly total: number;
  /** Of the oldest message. */
  readonly subject: string;
  readonly mailboxAddress: string;
  readonly reasons: readonly HeldReason[];
  readonly receivedAt: Date;
}

/** By sender, the one who waits longest first: many messages of one do not hide others. @param since only mail after it */
export const waitingSenders = (
  sql: Sql,
  organizationId: string,
  since: Date | null,
  limit: number,
): Promise<WaitingSender[]> =>
  sql.query<WaitingSender>(
    `with waiting as (
       select h.author, h.proven, h.subject, h.reasons, h.received_at, x.address
         from held_arrival h join mailboxes x on x.id = h.mailbox_id and x.deleted_at is null
        where h.organization_id = $1 and h.state = 'held' and ($2::timestamptz is null or h.received_at > $2)
     ), senders as (
       select distinct on (author, proven) author, proven, subject, reasons, received_at, address,
              count(*) over (partition by author, proven)::int as messages
         from waiting order by author, proven, received_at)
     select author, proven, messages, count(*) over ()::int as senders, sum(messages) over ()::int as total, subject, reasons,
            received_at as "receivedAt", address as "mailboxAddress"
       from senders order by received_at limit $3`,
    [organizationId, since, limit],
  );

/** Since when a notice about incoming mail lists it, and when the digest before the last one was due. */
export async function findDesk(
  sql: Sql,
  memberId: string,
): Promise<{ readonly incomingAfter: Date; readonly digestedBefore: Date | null } | undefined> {
  const [row] = await sql.query<{ incomingAfter: Date; digestedBefore: Date | null }>(
    `select incoming_after as "incomingAfter", digested_before as "digestedBefore" from member_desk_notice where member_id = $1`,
    [memberId],
  );
  return row;
}

interface DeskCounts {
  /** Requests for approval that other people decided. */
  readonly decidedByOthers: number;
  readonly incomingDecided: number;
  readonly stopped: readonly string[];
}

/** What else a digest says. @param memberId whose own decisions are left out */
export async function deskCounts(
  sql: Sql,
  organizationId: string,
  memberId: string,
  since: Date,
  limit: number,
): Promise<DeskCounts> {
  const [row] = await sql.query<DeskCounts>(
    `select (select count(*)::int from consent where organization_id = $1 and decided_at > $3
                and decided_by ->> 'id' is distinct from (select user_id from members where id = $2)) as "decidedByOthers",
            (select count(*)::int from held_arrival where organization_id = $1 and decided_at > $3) as "incomingDecided",
            array(select address from mailboxes where organization_id = $1 and deleted_at is null
                     and sending_mode = 'stopped' order by address limit $4) as stopped`,
    [organizationId, memberId, since, limit],
  );
  return row ?? { decidedByOthers: 0, incomingDecided: 0, stopped: [] };
}

/** Requests that wait, oldest first. */
export const waitingRequests = (
  sql: Sql,
  organizationId: string,
  now: Date,
  limit: number,
): Promise<{ id: string; total: number }[]> =>
  sql.query(
    `select id, count(*) over ()::int as total from consent
      where organization_id = $1 and status = 'pending' and expires_at > $2 order by created_at, id limit $3`,
    [organizationId, now, limit],
  );

/** Puts a notice off that waits for the end of quiet hours. */
export async function postponeNotice(sql: Sql, noticeId: string, until: Date): Promise<void> {
  await sql.query(`update member_notices set due_at = $2 where id = $1 and state = 'waiting'`, [noticeId, until]);
}
