import type { Sql } from '#db/database.ts';
import { deletePortion, type Portion } from '#db/delete-portion.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';
import type { MemberNoticeChannel, MemberNoticeKind, MemberNoticeState } from '#domain/organizations/member-notices.ts';

export interface MemberNoticeRow {
  readonly id: string;
  /** Null: about a person, whatever the organization. */
  readonly organizationId: string | null;
  readonly kind: MemberNoticeKind;
  readonly channel: MemberNoticeChannel;
  /** Id of what it is about. */
  readonly targetId: string;
  /** An e-mail address, or the host of a chat webhook. */
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
  id, organization_id as "organizationId", kind, channel, target_id as "targetId", recipient, subject, body as text, state,
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

/** After the part `changed`. */
const NOTED = noteChange('notice', 'changed', 'id');

export async function insertMemberNotices(
  sql: Sql,
  notices: readonly (Pick<
    MemberNoticeRow,
    'id' | 'organizationId' | 'kind' | 'targetId' | 'recipient' | 'subject' | 'text'
  > & { readonly channel?: MemberNoticeChannel })[],
  now: Date,
  credentialSealed: string | null = null,
): Promise<void> {
  await sql.query(
    `with changed as (
       insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, channel, created_at,
                                   due_at, credential_sealed)
       select *, $9::timestamptz, $9::timestamptz, $10::text
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       returning id, organization_id
     ) ${NOTED}`,
    [
      notices.map(({ id }) => id),
      notices.map(({ organizationId }) => organizationId),
      notices.map(({ kind }) => kind),
      notices.map(({ targetId }) => targetId),
      notices.map(({ recipient }) => recipient),
      notices.map(({ subject }) => subject),
      notices.map(({ text }) => text),
      notices.map(({ channel }) => channel ?? 'mail'),
      now,
      credentialSealed,
    ],
  );
}

export async function findMemberNotice(sql: Sql, id: string): Promise<MemberNoticeRow | undefined> {
  const [row] = await sql.query<MemberNoticeRow>(`select ${COLUMNS} from member_notices where id = $1`, [id]);
  return row;
}

/** The credential of a waiting notice; undefined: none, or its subject no longer exists. */
export async function openInvitationCredential(sql: Sql, id: string, now: Date): Promise<string | undefined> {
  const [row] = await sql.query<{ sealed: string }>(
    `select n.credential_sealed as sealed from member_notices n join invitations i on i.id = n.target_id
      where n.id = $1 and n.credential_sealed is not null and i.accepted_at is null and i.expires_at > $2`,
    [id, now],
  );
  return row?.sealed;
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

/**
 * Records the start of an attempt. @returns false if it must not start: the notice is final, or another attempt has
 * ended since
 */
export async function beginNoticeAttempt(
  sql: Sql,
  { id, attempts }: Pick<MemberNoticeRow, 'id' | 'attempts'>,
  now: Date,
): Promise<boolean> {
  const rows = await sql.query(
    `update member_notices set due_at = $3 where id = $1 and state = 'waiting' and attempts = $2 returning 1`,
    [id, attempts, now],
  );
  return rows.length > 0;
}

/**
 * Writes the result of an attempt; repeating it has no effect.
 *
 * @param notice as it was before the attempt
 */
export async function recordNoticeAttempt(
  sql: Sql,
  { id, attempts }: Pick<MemberNoticeRow, 'id' | 'attempts'>,
  outcome: {
    readonly state: MemberNoticeState;
    readonly reply: string;
    /** When it is tried again; null: the state is final. */
    readonly next: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await sql.query(
    `with changed as (
       update member_notices
          set state = $3, reply = $4, attempts = attempts + 1, due_at = coalesce($5, due_at),
              credential_sealed = case when $3 = 'waiting' then credential_sealed end,
              finished_at = case when $3 = 'waiting' then null else $6::timestamptz end
        where id = $1 and attempts = $2 and state = 'waiting'
       returning id, organization_id
     ) ${NOTED}`,
    [id, attempts, outcome.state, outcome.reply, outcome.next, outcome.now],
  );
}

/** Makes notices that wait final without an attempt: they can be read in the API. */
export async function keepNotices(sql: Sql, ids: readonly string[], reply: string, now: Date): Promise<void> {
  await sql.query(
    `with changed as (
       update member_notices set state = 'captured', reply = $2, finished_at = $3
        where id = any($1) and state = 'waiting' returning id, organization_id
     ) ${NOTED}`,
    [ids, reply, now],
  );
}

/**
 * Claims those that should have been attempted before `before`. One replica claims them, and they are due again at
 * `now`, so that they become overdue again only later.
 */
export const takeOverdueNotices = (sql: Sql, before: Date, now: Date, limit: number): Promise<MemberNoticeRow[]> =>
  sql.query<MemberNoticeRow>(
    `update member_notices set due_at = $2
      where id in (select id from member_notices where state = 'waiting' and due_at < $1
                    order by due_at limit $3 for update skip locked)
     returning ${COLUMNS}`,
    [before, now, limit],
  );

/** Deletes those that were over more than so many days ago. */
export const forgetNotices = (sql: Sql, days: number, rows: number): Promise<Portion> =>
  deletePortion(sql, 'member_notices', 'finished_at < now() - make_interval(days => $1)', [days], rows);
