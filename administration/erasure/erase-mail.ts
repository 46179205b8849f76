/** Messages and outgoing mail with all that belongs to them: each portion takes some, and leaves nothing of them. */
import type { Sql } from '#db/database.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { type Counts, countRows, eraseNow, inPortions, isReal, plus, type Run } from './portions.ts';

const MESSAGES_AT_ONCE = 500;
const OUTBOUND_AT_ONCE = 200;

/** A table, and which of its rows belong to messages. @param ids SQL for `in (…)` */
type Part = readonly [table: string, where: (ids: string) => string];

const byMessage = (ids: string): string => `message_id in (${ids})`;

const MESSAGE_PARTS: readonly Part[] = [
  ['placement_state', (ids) => `(folder_id, uid) in (select folder_id, uid from placement where ${byMessage(ids)})`],
  ['placement', byMessage],
  ['unplaced_message', byMessage],
  ['preserved_message', byMessage],
  ['draft', byMessage],
  ['message_text', byMessage],
  ['message_content', byMessage],
  ['attachment_digest', byMessage],
  ['carried_mark', (ids) => `mail in (select number from carried_mail where ${byMessage(ids)})`],
  ['carried_mail', byMessage],
  ['carried_due', byMessage],
  ['carried_document', byMessage],
  ['carried_passage', byMessage],
  ['message', (ids) => `id in (${ids})`],
];

const consentsOf = (ids: string): string => `select id from consent where ${byMessage(ids)}`;
const byConsent = (ids: string): string => `consent_id in (${consentsOf(ids)})`;

const OUTBOUND_PARTS: readonly Part[] = [
  ['approval_links', byConsent],
  ['approval_notice_items', byConsent],
  ['decision_log', byConsent],
  ['carried_passage', byConsent],
  ['consent', byMessage],
  ['outbound_attempt', byMessage],
  ['outbound_recipient', byMessage],
  ['outbound_message', (ids) => `id in (${ids})`],
];

const GIVEN = 'select unnest($1::text[])';

/** @param parts in the order of their references */
async function eraseParts(sql: Sql, parts: readonly Part[], ids: readonly string[]): Promise<Counts> {
  let counts: Counts = {};
  for (const [table, where] of parts) counts = plus(counts, await eraseNow(sql, table, where(GIVEN), [ids]));
  return counts;
}

const blobsOf = async (sql: Sql, table: string, ids: readonly string[]): Promise<Uint8Array[]> =>
  (
    await sql.query<{ blob: Uint8Array }>(
      `select distinct blob from ${table} where id = any($1::text[]) and blob is not null`,
      [ids],
    )
  ).map(({ blob }) => blob);

/**
 * Contents that nobody else has. Mail with the same content that is being stored at this moment is refused by its foreign
 * key, and comes again.
 */
const eraseBlobs = (sql: Sql, blobs: readonly Uint8Array[]): Promise<Counts> =>
  eraseNow(
    sql,
    'blob',
    `sha256 = any($1::bytea[]) and not exists (select from message where blob = sha256)
       and not exists (select from outbound_message where blob = sha256)`,
    [blobs],
  );

/** Call it in a transaction, after the placements were removed if the mailbox stays. */
export async function eraseMessagesNow(sql: Sql, ids: readonly string[]): Promise<Counts> {
  const blobs = await blobsOf(sql, 'message', ids);
  return plus(await eraseParts(sql, MESSAGE_PARTS, ids), await eraseBlobs(sql, blobs));
}

/** Notices about held mail: those that are about nothing else go, the subject of others may have named it. */
async function eraseNotices(sql: Sql, noticeIds: readonly string[]): Promise<Counts> {
  const left = `select from approval_notice_items i where i.notice_id =`;
  const emptied = await eraseNow(
    sql,
    'approval_notices',
    `notice_id = any($1::text[]) and not exists (${left} approval_notices.notice_id)`,
    [noticeIds],
  );
  const gone = await eraseNow(
    sql,
    'member_notices',
    `id = any($1::text[]) and not exists (${left} member_notices.id)`,
    [noticeIds],
  );
  await sql.query(`update member_notices set subject = split_part(subject, ': ', 1) where id = any($1::text[])`, [
    noticeIds,
  ]);
  return plus(emptied, gone);
}

export interface ErasedOutbound {
  readonly counts: Counts;
  readonly workflows: readonly string[];
}

/** Call it in a transaction. */
export async function eraseOutboundNow(sql: Sql, ids: readonly string[]): Promise<ErasedOutbound> {
  // The requests first, then the messages: as decisions lock them.
  await sql.query(`select from consent where message_id = any($1::text[]) order by id for update`, [ids]);
  const open = await sql.query<{ id: string; isOpen: boolean }>(
    `select id, state in ('held', 'scheduled', 'sending') as "isOpen" from outbound_message
      where id = any($1::text[]) order by id for update`,
    [ids],
  );
  const notices = await sql.query<{ id: string }>(
    `select distinct notice_id as id from approval_notice_items where ${byConsent(GIVEN)}`,
    [ids],
  );
  const blobs = await blobsOf(sql, 'outbound_message', ids);
  let counts = await eraseParts(sql, OUTBOUND_PARTS, ids);
  counts = plus(counts, await eraseBlobs(sql, blobs));
  const noticeIds = notices.map(({ id }) => id);
  if (noticeIds.length > 0) counts = plus(counts, await eraseNotices(sql, noticeIds));
  return { counts, workflows: open.filter(({ isOpen }) => isOpen).map(({ id }) => outboundWorkflowId(id)) };
}

/** For rehearsals. @param messages and `outbound`: SQL for the ids */
export async function countMail(
  run: Run,
  messages: string,
  outbound: string,
  values: readonly unknown[],
): Promise<void> {
  for (const [table, where] of MESSAGE_PARTS) await countRows(run, table, where(messages), values);
  for (const [table, where] of OUTBOUND_PARTS) await countRows(run, table, where(outbound), values);
  const only = `notice_id in (select notice_id from approval_notice_items where ${byConsent(outbound)})
    and not exists (select from approval_notice_items i where i.notice_id = n.notice_id
                       and i.consent_id not in (${consentsOf(outbound)}))`;
  for (const table of ['approval_notices', 'member_notices']) {
    const where = `${table === 'member_notices' ? 'id' : 'notice_id'} in (select notice_id from approval_notices n where ${only})`;
    await countRows(run, table, where, values);
  }
  await countRows(
    run,
    'blob',
    `sha256 in (select blob from message where id in (${messages}) union
                select blob from outbound_message where id in (${outbound}))
      and not exists (select from message m where m.blob = sha256 and m.id not in (${messages}))
      and not exists (select from outbound_message o where o.blob = sha256 and o.id not in (${outbound}))`,
    values,
  );
}

/** All mail of a mailbox that nobody reaches any more. */
export async function eraseMailOf(run: Run, mailboxId: string): Promise<void> {
  if (!isReal(run)) {
    const of = (table: string): string => `select id from ${table} where mailbox_id = $1`;
    return countMail(run, of('message'), of('outbound_message'), [mailboxId]);
  }
  const some = async (sql: Sql, table: string, limit: number): Promise<string[]> =>
    (
      await sql.query<{ id: string }>(`select id from ${table} where mailbox_id = $1 order by id limit $2`, [
        mailboxId,
        limit,
      ])
    ).map(({ id }) => id);
  await inPortions(run, 'outbound_message', async (sql) => {
    const ids = await some(sql, 'outbound_message', OUTBOUND_AT_ONCE);
    if (ids.length === 0) return { counts: {}, more: false };
    return { ...(await eraseOutboundNow(sql, ids)), more: true };
  });
  await inPortions(run, 'message', async (sql) => {
    const ids = await some(sql, 'message', MESSAGES_AT_ONCE);
    if (ids.length === 0) return { counts: {}, more: false };
    return { counts: await eraseMessagesNow(sql, ids), more: true };
  });
}
