import type { Sql } from '#db/database.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import { MEMBER_NOTICE_CHANNELS, type MemberNoticeChannel } from '#domain/organizations/member-notices.ts';
import type { ApprovalMailMode, ApprovalNoticeKind, ChatForm } from '#domain/sending/approval-notices.ts';
import type { ConsentStatus, HeldBecauseKind } from '#domain/sending/consent.ts';

/** A member who may decide, and how this member wants to be notified. */
export interface NotifiedMember {
  readonly memberId: string;
  readonly email: string;
  /** Null: nothing was chosen. */
  readonly approvals: ApprovalMailMode | null;
  readonly chatHost: string | null;
  /** The organization has rules who decides. */
  readonly hasRules: boolean;
}

/** Every member may decide (`core/organizations/may-decide.ts`), unless rules of the organization say otherwise. */
export const membersToNotify = (sql: Sql, organizationId: string): Promise<NotifiedMember[]> =>
  sql.query<NotifiedMember>(
    `select m.id as "memberId", u.email, s.approvals, s.chat_host as "chatHost",
            exists (select from decision_rule r where r.organization_id = m.organization_id) as "hasRules"
       from members m join users u on u.id = m.user_id left join member_notice_settings s on s.member_id = m.id
      where m.organization_id = $1 order by m.id`,
    [organizationId],
  );

/** When the last notice of this kind was to be sent, by member and channel. */
export const lastNoticesOf = (
  sql: Sql,
  memberIds: readonly string[],
  kind: ApprovalNoticeKind,
): Promise<{ memberId: string; channel: MemberNoticeChannel; sendAt: Date }[]> =>
  sql.query(
    `select m.member_id as "memberId", c.channel, last.send_at as "sendAt"
       from unnest($1::text[]) as m (member_id)
      cross join unnest($3::text[]) as c (channel)
      cross join lateral (
        select n.send_at from approval_notices n
         where n.member_id = m.member_id and n.kind = $2 and n.channel = c.channel order by n.send_at desc limit 1
      ) last`,
    [memberIds, kind, MEMBER_NOTICE_CHANNELS],
  );

/** A notice for one member by one channel. */
export interface ApprovalNoticeTarget {
  readonly noticeId: string;
  readonly memberId: string;
  readonly channel: MemberNoticeChannel;
  readonly recipient: string;
  readonly sendAt: Date;
}

/**
 * Adds a request to the open notice of each target, which is made where there is none. Requests that are added at the same
 * time wait for each other; the sender, which closes a notice, waits for them.
 *
 * @param subject shown until the notice is sent
 */
export async function addToOpenNotices(
  sql: Sql,
  about: {
    readonly organizationId: string;
    readonly consentId: string;
    readonly kind: ApprovalNoticeKind;
    readonly subject: string;
  },
  targets: readonly ApprovalNoticeTarget[],
  now: Date,
): Promise<void> {
  await sql.query(ADD, [
    targets.map(({ noticeId }) => noticeId),
    targets.map(({ memberId }) => memberId),
    targets.map(({ channel }) => channel),
    targets.map(({ recipient }) => recipient),
    targets.map(({ sendAt }) => sendAt),
    about.organizationId,
    about.consentId,
    about.kind,
    about.subject,
    now,
  ]);
}

const ADD = `
  with wanted as (
    -- A member who is being removed is waited for, and left out.
    select w.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
      as w (notice_id, member_id, channel, recipient, send_at) join members m on m.id = w.member_id
       for key share of m
  ), joined as (
    insert into approval_notices (notice_id, organization_id, member_id, kind, channel, send_at)
    select notice_id, $6, member_id, $8, channel, send_at from wanted order by member_id, channel
    on conflict (member_id, kind, channel) where is_open do update set is_open = true
    returning notice_id
  ), written as (
    insert into member_notices (id, organization_id, kind, channel, target_id, recipient, subject, body, created_at, due_at)
    select w.notice_id, $6, $8, w.channel, $7, w.recipient, $9, '', $10, w.send_at
      from wanted w join joined j on j.notice_id = w.notice_id
    returning id, organization_id
  ), noted as (${noteChange('notice', 'written', 'id')})
  -- An open notice may be about it already: all members are asked once more.
  insert into approval_notice_items (notice_id, consent_id) select notice_id, $7 from joined on conflict do nothing`;

/** Notices about a request that wait, to be started. */
export const waitingNoticesAbout = (
  sql: Sql,
  consentId: string,
): Promise<{ id: string; organizationId: string; kind: ApprovalNoticeKind }[]> =>
  sql.query(
    `select n.id, n.organization_id as "organizationId", n.kind
       from approval_notice_items i join member_notices n on n.id = i.notice_id
      where i.consent_id = $1 and n.state = 'waiting'`,
    [consentId],
  );

export interface ApprovalNoticeRow {
  readonly organizationId: string;
  readonly memberId: string;
  readonly sendAt: Date;
}

export async function findApprovalNotice(sql: Sql, noticeId: string): Promise<ApprovalNoticeRow | undefined> {
  const [row] = await sql.query<ApprovalNoticeRow>(
    `select organization_id as "organizationId", member_id as "memberId", send_at as "sendAt"
       from approval_notices where notice_id = $1`,
    [noticeId],
  );
  return row;
}

/** From now on nothing is added. Waits for those who are adding. */
export async function closeApprovalNotice(sql: Sql, noticeId: string): Promise<void> {
  await sql.query(`update approval_notices set is_open = false where notice_id = $1 and is_open`, [noticeId]);
}

/** A request that a notice is about. */
export interface NoticedConsent {
  readonly id: string;
  readonly status: ConsentStatus;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly mailboxName: string;
  readonly mailboxAddress: string;
  /** All recipients of the message. */
  readonly allRecipients: readonly string[];
  readonly heldBecause: HeldBecauseKind;
}

const NOTICED = `
  c.id, c.status, c.recipients, c.subject, c.preview, c.reason, c.created_at as "createdAt",
  c.expires_at as "expiresAt", m.name as "mailboxName", m.address as "mailboxAddress",
  array(select r.address from outbound_recipient r where r.message_id = c.message_id order by r.number) as "allRecipients",
  coalesce(c.held_because, 'not_recorded') as "heldBecause"`;

export const consentsOfNotice = (sql: Sql, noticeId: string): Promise<NoticedConsent[]> =>
  sql.query<NoticedConsent>(
    `select ${NOTICED}
       from approval_notice_items i
       join consent c on c.id = i.consent_id
       join mailboxes m on m.id = c.mailbox_id
      where i.notice_id = $1 order by c.id`,
    [noticeId],
  );

/** Requests of an organization that wait, oldest first. */
export const noticedConsents = (sql: Sql, organizationId: string, ids: readonly string[]): Promise<NoticedConsent[]> =>
  sql.query<NoticedConsent>(
    `select ${NOTICED} from consent c join mailboxes m on m.id = c.mailbox_id
      where c.organization_id = $1 and c.id = any($2::text[]) and c.status = 'pending' order by c.created_at, c.id`,
    [organizationId, ids],
  );

/** Writes what a notice says. @param credentials sealed; null: it carries none */
export async function writeNoticeText(
  sql: Sql,
  noticeId: string,
  {
    subject,
    text,
    credentials,
  }: { readonly subject: string; readonly text: string; readonly credentials: string | null },
): Promise<void> {
  await sql.query(
    `update member_notices set subject = $2, body = $3, credential_sealed = $4 where id = $1 and state = 'waiting'`,
    [noticeId, subject, text, credentials],
  );
}

/** Removes a notice that has nothing to report any more. */
export async function dropNotice(sql: Sql, noticeId: string): Promise<void> {
  await sql.query(
    `with gone as (delete from member_notices where id = $1 and state = 'waiting' returning id, organization_id)
     ${noteChange('notice', 'gone', 'id')}`,
    [noticeId],
  );
}

/** The sealed credentials of a notice that waits. */
export async function sealedCredentialOf(sql: Sql, noticeId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ sealed: string | null }>(
    `select credential_sealed as sealed from member_notices where id = $1 and state = 'waiting'`,
    [noticeId],
  );
  return row?.sealed ?? undefined;
}

/** Where a member's chat messages go. */
export interface ChatTarget {
  readonly memberId: string;
  readonly form: ChatForm;
  readonly urlSealed: string;
}

export async function findChatTarget(sql: Sql, memberId: string): Promise<ChatTarget | undefined> {
  const [row] = await sql.query<ChatTarget>(
    `select member_id as "memberId", chat_form as form, chat_url_sealed as "urlSealed"
       from member_notice_settings where member_id = $1 and chat_url_sealed is not null`,
    [memberId],
  );
  return row;
}

/** Marks a request as reminded of. @returns whether it waits and nobody did before */
export async function takeReminder(sql: Sql, consentId: string, now: Date): Promise<boolean> {
  const rows = await sql.query(
    `update consent set reminded_at = $2 where id = $1 and status = 'pending' and reminded_at is null returning 1`,
    [consentId, now],
  );
  return rows.length > 0;
}
