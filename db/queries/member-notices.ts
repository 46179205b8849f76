import type { MemberNoticeKind, MemberNoticeState } from '../../domain/member-notices.ts';
import type { Sql } from '../database.ts';

export interface MemberNoticeRow {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: MemberNoticeKind;
  /** Id of what it is about. */
  readonly targetId: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly state: MemberNoticeState;
  readonly attempts: number;
  /** What the other side said last. */
  readonly reply: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

const COLUMNS = /* sql */ `
  id, organization_id as "organizationId", kind, target_id as "targetId", recipient, subject, body as text, state,
  attempts, reply, created_at as "createdAt", finished_at as "finishedAt"`;

/** Addresses of an organization's owners and admins. */
export async function noticeRecipients(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `select u.email from members m join users u on u.id = m.user_id
      where m.organization_id = $1 and m.role in ('owner', 'admin') order by u.email`,
    [organizationId],
  );
  return rows.map(({ email }) => email);
}

export async function insertMemberNotices(
  sql: Sql,
  notices: readonly Pick<
    MemberNoticeRow,
    'id' | 'organizationId' | 'kind' | 'targetId' | 'recipient' | 'subject' | 'text'
  >[],
  now: Date,
): Promise<void> {
  await sql.query(
    `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, created_at, due_at)
     select *, $8::timestamptz, $8::timestamptz
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])`,
    [
      notices.map(({ id }) => id),
      notices.map(({ organizationId }) => organizationId),
      notices.map(({ kind }) => kind),
      notices.map(({ targetId }) => targetId),
      notices.map(({ recipient }) => recipient),
      notices.map(({ subject }) => subject),
      notices.map(({ text }) => text),
      now,
    ],
  );
}

export async function findMemberNotice(sql: Sql, id: string): Promise<MemberNoticeRow | undefined> {
  const [row] = await sql.query<MemberNoticeRow>(`select ${COLUMNS} from member_notices where id = $1`, [id]);
  return row;
}

/** Newest first; one more than `limit`. */
export const listMemberNotices = (
  sql: Sql,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MemberNoticeRow[]> =>
  sql.query<MemberNoticeRow>(
    `select ${COLUMNS} from member_notices
      where organization_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [organizationId, page.after, page.limit + 1],
  );

/** Writes what came of an attempt. @param next when it is tried again; null: the state is final */
export async function recordNoticeAttempt(
  sql: Sql,
  id: string,
  outcome: {
    readonly state: MemberNoticeState;
    readonly reply: string;
    readonly next: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await sql.query(
    `update member_notices
        set state = $2, reply = $3, attempts = attempts + 1, due_at = coalesce($4, due_at),
            finished_at = case when $2 = 'waiting' then null else $5::timestamptz end
      where id = $1 and state = 'waiting'`,
    [id, outcome.state, outcome.reply, outcome.next, outcome.now],
  );
}

/** Those that should have been attempted before `before`. */
export const overdueNotices = (sql: Sql, before: Date, limit: number): Promise<MemberNoticeRow[]> =>
  sql.query<MemberNoticeRow>(
    `select ${COLUMNS} from member_notices where state = 'waiting' and due_at < $1 order by due_at limit $2`,
    [before, limit],
  );

/** Deletes those that were over more than so many days ago. */
export async function forgetNotices(sql: Sql, days: number): Promise<void> {
  await sql.query(`delete from member_notices where finished_at < now() - make_interval(days => $1)`, [days]);
}
