/** How a member is notified of held mail. */

import { recordAudit } from '#core/organizations/audit.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { checkDestination, destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import type { Sql } from '#db/database.ts';
import { lastDigestOf, setDigestAt } from '#db/queries/notices/desk-notices.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MemberNoticeState } from '#domain/organizations/member-notices.ts';
import {
  APPROVAL_MAIL_DEFAULT,
  type ApprovalMailMode,
  CHAT_TESTS_PER_HOUR,
  type ChatForm,
} from '#domain/sending/approval-notices.ts';
import { type DutyHours, isTimeZone } from '#domain/sending/decision-rules.ts';
import {
  DIGEST_DEFAULT,
  type DigestSchedule,
  INCOMING_MAIL_DEFAULT,
  type IncomingMailMode,
  nextDigestMs,
  QUIET_HOURS_MAX_MINUTES,
  quietMinutes,
} from '#domain/sending/desk-notices.ts';

const HOUR_MS = 3_600_000;

/** Identity of the URL of a member's chat webhook in its sealed form. */
export const chatUrlPlace = (memberId: string): string => `member_notice_settings:chat_url:${memberId}`;

export interface NoticeSettingsView {
  readonly approvals: ApprovalMailMode;
  readonly incoming: IncomingMailMode;
  /** Null: nothing was chosen. */
  readonly digest: DigestSchedule | null;
  /** Null: none. */
  readonly quietHours: DutyHours | null;
  readonly chat: {
    readonly form: ChatForm;
    /** Of its URL, which is a secret. */
    readonly host: string;
    /** The result of the last message to it. */
    readonly last: { readonly state: MemberNoticeState; readonly reply: string | null; readonly at: Date } | null;
  } | null;
}

/** The member whose settings they are. */
export interface NotifiedMember {
  readonly organizationId: string;
  readonly memberId: string;
}

interface SettingsRow {
  readonly approvals: ApprovalMailMode;
  readonly incoming: IncomingMailMode | null;
  readonly digest: DigestSchedule | null;
  readonly quietHours: DutyHours | null;
  readonly form: ChatForm | null;
  readonly host: string | null;
}

const NOTHING_CHOSEN: NoticeSettingsView = {
  approvals: APPROVAL_MAIL_DEFAULT,
  incoming: INCOMING_MAIL_DEFAULT,
  digest: null,
  quietHours: null,
  chat: null,
};

export async function noticeSettings(
  sql: Sql,
  { organizationId, memberId }: NotifiedMember,
): Promise<NoticeSettingsView> {
  const [row] = await sql.query<SettingsRow>(
    `select approvals, incoming, digest, quiet_hours as "quietHours", chat_form as form, chat_host as host
       from member_notice_settings where member_id = $1 and organization_id = $2`,
    [memberId, organizationId],
  );
  if (row === undefined) return NOTHING_CHOSEN;
  const { approvals, incoming, digest, quietHours, form, host } = row;
  const mail = { approvals, incoming: incoming ?? INCOMING_MAIL_DEFAULT, digest, quietHours };
  if (form === null || host === null) return { ...mail, chat: null };
  const [last] = await sql.query<{ state: MemberNoticeState; reply: string | null; at: Date }>(LAST_MESSAGE, [
    organizationId,
    memberId,
    host,
  ]);
  return { ...mail, chat: { form, host, last: last ?? null } };
}

const LAST_MESSAGE = `
  select n.state, n.reply, coalesce(n.finished_at, n.created_at) as at from member_notices n
   where n.organization_id = $1 and n.channel = 'chat' and n.recipient = $3 and n.attempts > 0
     and (n.target_id = $2 or n.id in (select notice_id from approval_notices where member_id = $2))
   order by coalesce(n.finished_at, n.created_at) desc limit 1`;

/** What is undefined does not change. */
export interface NoticeSettingsChange {
  readonly approvals: ApprovalMailMode;
  readonly incoming?: IncomingMailMode | undefined;
  /** Null: as if nothing was chosen. */
  readonly digest?: DigestSchedule | null | undefined;
  /** Null: none. */
  readonly quietHours?: DutyHours | null | undefined;
  /** Null: none. */
  readonly chat?: { readonly form: ChatForm; readonly url: string } | null;
}

/**
 * @throws {CatalogueError} invalid_url, unresolvable_destination, unsafe_destination; forbidden if the member was
 * removed
 */
export async function changeNoticeSettings(
  services: Services,
  { organizationId, memberId }: NotifiedMember,
  change: NoticeSettingsChange,
  caller: Caller,
): Promise<void> {
  const { approvals, incoming, digest, quietHours, chat } = change;
  checkTimes(change);
  const host = chat ? await checkedHost(services, chat.url) : null;
  const values = [
    memberId,
    organizationId,
    approvals,
    chat?.form ?? null,
    host,
    chat ? services.secrets.seal(chat.url, chatUrlPlace(memberId)) : null,
    new Date(services.now()),
    chat === undefined,
    incoming ?? null,
    digest === undefined,
    digest ? JSON.stringify(digest) : null,
    quietHours === undefined,
    quietHours ? JSON.stringify(quietHours) : null,
  ];
  await services.db.transaction(async (sql) => {
    const rows = await sql.query(SAVE, values);
    if (rows.length === 0) throw new CatalogueError('forbidden', 'You are no longer a member of this organization.');
    if (digest !== undefined) await scheduleDigest(services, sql, { organizationId, memberId }, digest);
    const mail = Object.entries({ incoming, digest, quietHours }).filter(([, value]) => value !== undefined);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'notice_settings.updated',
      targetId: memberId,
      details: {
        approvals,
        ...Object.fromEntries(mail),
        ...(chat === undefined ? {} : { chat: chat === null ? null : { form: chat.form, host } }),
      },
    });
  });
}

const SAVE = `
  insert into member_notice_settings as s
         (member_id, organization_id, approvals, chat_form, chat_host, chat_url_sealed, updated_at, incoming, digest,
          quiet_hours)
  select m.id, $2, $3, $4, $5, $6, $7, $9, $11::jsonb, $13::jsonb from members m where m.id = $1 and m.organization_id = $2
  on conflict (member_id) do update set approvals = $3, updated_at = $7,
    chat_form = case when $8::bool then s.chat_form else $4 end,
    chat_host = case when $8::bool then s.chat_host else $5 end,
    chat_url_sealed = case when $8::bool then s.chat_url_sealed else $6 end,
    incoming = coalesce($9, s.incoming),
    digest = case when $10::bool then s.digest else $11::jsonb end,
    quiet_hours = case when $12::bool then s.quiet_hours else $13::jsonb end
  returning 1`;

/** @throws {CatalogueError} invalid_request */
function checkTimes({ digest, quietHours }: NoticeSettingsChange): void {
  const refused = (path: string, message: string) =>
    new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });
  if (digest && !isTimeZone(digest.timeZone)) throw refused('/digest/timeZone', 'is not a known time zone');
  if (!quietHours) return;
  if (!isTimeZone(quietHours.timeZone)) throw refused('/quietHours/timeZone', 'is not a known time zone');
  if (quietMinutes(quietHours) > QUIET_HOURS_MAX_MINUTES)
    throw refused(
      '/quietHours/to',
      `must leave an hour of the day: at most ${QUIET_HOURS_MAX_MINUTES / 60} hours are quiet`,
    );
}

/** The next digest of a new schedule; on a day that had one there is no second. */
async function scheduleDigest(
  { now }: Pick<Services, 'now'>,
  sql: Sql,
  member: NotifiedMember,
  digest: DigestSchedule | null,
): Promise<void> {
  const nowMs = now();
  const last = await lastDigestOf(sql, member.memberId);
  const next = nextDigestMs(digest ?? DIGEST_DEFAULT, nowMs, last?.getTime() ?? null);
  await setDigestAt(sql, member, new Date(next), new Date(nowMs));
}

async function checkedHost(services: Services, url: string): Promise<string> {
  const checked = await checkDestination(url, destinationPolicy(services.settings));
  if (!checked.ok)
    throw new CatalogueError(checked.problem, checked.message, {
      details: [{ path: '/chat/url', message: checked.message }],
    });
  return checked.url.host;
}

/**
 * Writes a test message for the member's chat webhook; start it by `sendNotices` after the commit.
 *
 * @throws {CatalogueError} conflict without a webhook, rate_limited
 */
export async function writeChatTest(
  services: Services,
  { organizationId, memberId }: NotifiedMember,
): Promise<NewMemberNotice> {
  const { chat } = await noticeSettings(services.db, { organizationId, memberId });
  if (chat === null)
    throw new CatalogueError('conflict', 'There is no chat webhook to test.', {
      fix: 'Set one first: PUT /api/sessions/current/notices with chat {form, url}.',
    });
  const now = services.now();
  const { used, resetsInMs } = await countUse(services.db, `chat_test:${memberId}`, HOUR_MS, now);
  if (used > CHAT_TESTS_PER_HOUR)
    throw new CatalogueError('rate_limited', `More than ${CHAT_TESTS_PER_HOUR} test messages in an hour.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  const notice = {
    id: newId('notice', now),
    organizationId,
    kind: 'chat_test' as const,
    channel: 'chat' as const,
    targetId: memberId,
    recipient: chat.host,
    subject: 'Test of the chat webhook',
    text: 'A test message, asked for by the member.',
  };
  await services.db.transaction((sql) => insertMemberNotices(sql, [notice], new Date(now)));
  return notice;
}
