/**
 * The erasure of a correspondent: a person outside, known by an address. All mail that has the address in its header or
 * envelope goes, from every mailbox, with what was announced and logged of it. The mailboxes stay, so their folders are
 * changed as a client would do it: UIDs, counters and logs are right at every moment.
 *
 * What others wrote in the text of their own mail stays. That nothing may be sent to the address stays, as a hash.
 */
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { unplaceMessages } from '#mailstore/folders/unplace-messages.ts';
import { pruneLog } from '#mailstore/upkeep/housekeeping.ts';
import { erasedAddress } from '#sending/lists/suppressions.ts';
import { eraseDeliveries } from './erase-deliveries.ts';
import { countMail, eraseMessagesNow, eraseOutboundNow } from './erase-mail.ts';
import type { ErasureServices } from './erase-mailbox.ts';
import { clearAudit, eraseRefusals, eraseStoredAnswers } from './erase-records.ts';
import { type Counts, countRows, eraseRows, inPortions, isReal, plus, type Run } from './portions.ts';

export interface CorrespondentToErase {
  /** In lower case. */
  readonly address: string;
  readonly organizationIds: readonly string[];
  readonly startedAt: Date;
}

/** PostgreSQL's form of an expression that finds the address, and not in the middle of a longer one. */
export const addressPattern = (address: string): string =>
  `(?<![a-z0-9._%+-])${address.replaceAll(/[^a-z0-9_]/g, String.raw`\$&`)}(?![a-z0-9-]|\\.[a-z0-9])`;

const MESSAGES_READ_AT_ONCE = 1_000;
const MESSAGES_ERASED_AT_ONCE = 100;

/** Over `message m`; the pattern is $1. */
const HAS_ADDRESS = `
  (lower(coalesce(m.envelope_from, '')) ~ $1 or lower(coalesce(m.delivered_to, '')) ~ $1
   or lower(m.from_addresses::text) ~ $1 or lower(m.to_addresses::text) ~ $1 or lower(m.cc_addresses::text) ~ $1
   or exists (select from message_text t where t.message_id = m.id and t.header ~ $1))`;

/** Over `held_arrival`; the pattern is $1. As of stored mail, its header counts, not what others wrote in the text. */
const HELD_HAS_ADDRESS = String.raw`
  (author ~ $1 or lower(envelope_from) ~ $1 or lower(delivered_to) ~ $1 or lower(from_addresses::text) ~ $1
   or lower(coalesce(actor::text, '')) ~ $1
   or lower(encode(substring(bytes for coalesce(nullif(position('\x0d0a0d0a'::bytea in bytes), 0), length(bytes))), 'escape')) ~ $1)`;

/** Over `outbound_message o`; the pattern is $1. */
const SENT_TO_ADDRESS = `
  (lower(o.to_addresses::text) ~ $1 or lower(o.cc_addresses::text) ~ $1
   or exists (select from outbound_recipient r where r.message_id = o.id and lower(r.address) ~ $1)
   or exists (select from message m where m.id = o.id and ${HAS_ADDRESS}))`;

const mailOf = (table: 'message' | 'outbound_message'): string =>
  table === 'message'
    ? `select m.id from message m where m.mailbox_id = any($2::text[]) and ${HAS_ADDRESS}`
    : `select o.id from outbound_message o where o.mailbox_id = any($2::text[]) and ${SENT_TO_ADDRESS}`;

/** Ids of a table in a mailbox that match, read some thousand rows at a time. */
async function* matching(
  sql: Sql,
  table: 'message' | 'outbound_message',
  mailboxId: string,
  pattern: string,
): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const rows = await sql.query<{ id: string }>(
      `select id from ${table} where mailbox_id = $1 and id > $2 order by id limit $3`,
      [mailboxId, after, MESSAGES_READ_AT_ONCE],
    );
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    const found = await sql.query<{ id: string }>(`${mailOf(table)} and id > $3 and id <= $4 order by id`, [
      pattern,
      [mailboxId],
      after,
      last,
    ]);
    for (let i = 0; i < found.length; i += MESSAGES_ERASED_AT_ONCE)
      yield found.slice(i, i + MESSAGES_ERASED_AT_ONCE).map(({ id }) => id);
    after = last;
  }
}

/** Decisions leave no gap in the log of their mailbox: it is forgotten up to them. */
async function pruneDecisions(services: ErasureServices, mailboxId: string, ids: readonly string[]): Promise<void> {
  const [row] = await services.db.query<{ last: number | null }>(
    `select max(d.seq) as last from decision_log d join consent c on c.id = d.consent_id
      where d.mailbox_id = $1 and c.message_id = any($2::text[])`,
    [mailboxId, ids],
  );
  if (typeof row?.last === 'number') await pruneLog(services.db, mailboxId, row.last);
}

async function eraseMailOfMailbox(
  services: ErasureServices,
  run: Run & { readonly erasureId: string },
  mailboxId: string,
  pattern: string,
): Promise<void> {
  for await (const ids of matching(services.db, 'outbound_message', mailboxId, pattern)) {
    await pruneDecisions(services, mailboxId, ids);
    await inPortions(run, 'outbound_message', async (sql) => {
      const { counts, workflows } = await eraseOutboundNow(sql, ids);
      // The copy in Sent has the id of the message, and does not name recipients in Bcc.
      return { counts: plus(counts, await erasePlacedNow(sql, mailboxId, ids)), workflows, more: false };
    });
  }
  for await (const ids of matching(services.db, 'message', mailboxId, pattern))
    await inPortions(run, 'message', async (sql) => ({
      counts: await erasePlacedNow(sql, mailboxId, ids),
      more: false,
    }));
}

/** Messages of a mailbox that stays. */
async function erasePlacedNow(sql: Sql, mailboxId: string, ids: readonly string[]): Promise<Counts> {
  const placement = await unplaceMessages(sql, mailboxId, ids);
  const counts = await eraseMessagesNow(sql, ids);
  // Placements, and their states with them, were removed as clients do it.
  const also = (name: 'placement' | 'placement_state') => (counts[name] ?? 0) + placement;
  return { ...counts, placement: also('placement'), placement_state: also('placement_state'), unplaced_message: 0 };
}

/** Every message is read once, however many tables are counted. */
async function countMailOf(
  services: ErasureServices,
  run: Run,
  mailboxIds: readonly string[],
  pattern: string,
): Promise<void> {
  const [messages, outbound]: [string[], string[]] = [[], []];
  for (const mailboxId of mailboxIds) {
    for await (const ids of matching(services.db, 'message', mailboxId, pattern)) messages.push(...ids);
    for await (const ids of matching(services.db, 'outbound_message', mailboxId, pattern)) outbound.push(...ids);
    run.onPortion('message');
  }
  // Each statement has both values.
  await countMail(
    run,
    'select unnest($1::text[]) where $2::text[] is not null',
    'select unnest($2::text[]) where $1::text[] is not null',
    [[...new Set([...messages, ...outbound])], outbound],
  );
}

export async function eraseCorrespondent(
  services: ErasureServices,
  run: Run,
  { address, organizationIds, startedAt }: CorrespondentToErase,
): Promise<void> {
  const { db } = services;
  const pattern = addressPattern(address);
  for (const organizationId of organizationIds) {
    const mailboxes = (
      await db.query<{ id: string }>(`select id from mailboxes where organization_id = $1 order by id`, [
        organizationId,
      ])
    ).map(({ id }) => id);
    const about = [pattern, mailboxes, organizationId];
    const isAbout = `e.organization_id = $3 and (lower(e.payload) ~ $1 or lower(coalesce(e.extracts, '')) ~ $1
      or exists (select from message m where m.id = e.message_id and m.mailbox_id = any($2::text[]) and ${HAS_ADDRESS})
      or exists (select from outbound_message o
                  where o.id = e.message_id and o.mailbox_id = any($2::text[]) and ${SENT_TO_ADDRESS}))`;
    // Before the mail, by which they are found; and what was recorded while it was erased.
    await eraseDeliveries(run, { events: isAbout, deliveries: isAbout, values: about });
    await clearAudit(run, {
      organizationId,
      where: `lower(a.details::text) ~ $3 or lower(coalesce(a.target_id, '')) ~ $3`,
      set: `details = regexp_replace(a.details::text, $3, 'erased', 'gi')::jsonb,
            target_id = regexp_replace(a.target_id, $3, 'erased', 'gi')`,
      values: [pattern],
    });
    if (isReal(run)) for (const id of mailboxes) await eraseMailOfMailbox(services, run, id, pattern);
    else await countMailOf(services, run, mailboxes, pattern);
    const now = 'e.organization_id = $2 and lower(e.payload) ~ $1';
    if (isReal(run))
      await eraseDeliveries(run, {
        ...{ events: now, deliveries: now, values: [pattern, organizationId] },
        from: { event: firstIdAt('event', startedAt.getTime()), delivery: firstIdAt('delivery', startedAt.getTime()) },
      });
    const here: [string, string][] = [
      // Exports and files to import may have mail of the person, and are encrypted: all of them go.
      [
        'mailbox_move_part',
        'move_id in (select id from mailbox_move where organization_id = $2) and $1::text is not null',
      ],
      ['mailbox_move', 'organization_id = $2 and $1::text is not null'],
      ['known_recipient', `organization_id = $2 and kind <> 'domain' and lower(value) ~ $1`],
      ['sender_list', 'organization_id = $2 and value ~ $1'],
      ['standing_approval', `organization_id = $2 and array_to_string(recipients, ' ') ~ $1`],
      ['released_thread', 'mailbox_id in (select id from mailboxes where organization_id = $2) and author ~ $1'],
      ['sender_read', 'mailbox_id in (select id from mailboxes where organization_id = $2) and author ~ $1'],
      ['held_arrival', `organization_id = $2 and ${HELD_HAS_ADDRESS}`],
      // Also a member: notices to that account stay.
      [
        'member_notices',
        `organization_id = $2 and lower(recipient) !~ $1 and lower(subject || ' ' || body || ' ' || coalesce(reply, '')) ~ $1`,
      ],
      ['role_mail', `organization_id = $2 and lower(encode(bytes, 'escape')) ~ $1`],
      [
        'received_request',
        `receiver_id in (select id from webhook_receiver where organization_id = $2) and lower(body || headers::text) ~ $1`,
      ],
    ];
    await clearHeldDetails(run, [pattern, organizationId]);
    for (const [table, where] of here) await eraseRows(run, table, where, [pattern, organizationId]);
    await eraseStoredAnswers(
      run,
      `lower(coalesce(body, '')) ~ $1
         and split_part(principal, ':', 2) in (select id from api_keys where organization_id = $2 union
               select id from mailboxes where organization_id = $2 union
               select user_id from members where organization_id = $2)`,
      [pattern, organizationId],
    );
    await clearDecisionRules(run, organizationId, pattern);
    await clearSuppression(run, organizationId, address);
  }
  await eraseRefusals(run, [address]);
}

/** Requests about mail to others may say that mail of this address was read before. */
async function clearHeldDetails(run: Run, values: readonly unknown[]): Promise<void> {
  if (!isReal(run)) return;
  await inPortions(run, 'consent', async (sql) => {
    await sql.query(
      `update consent set held_details = null where organization_id = $2 and lower(held_details::text) ~ $1`,
      values,
    );
    return { counts: {}, more: false };
  });
}

/** The address is taken out of the rules; a rule about nobody else goes, as without recipients it would be about all. */
async function clearDecisionRules(run: Run, organizationId: string, pattern: string): Promise<void> {
  const where = `organization_id = $1 and array_to_string(recipients, ' ') ~ $2`;
  if (!isReal(run)) return countRows(run, 'decision_rule', where, [organizationId, pattern]);
  await inPortions(run, 'decision_rule', async (sql) => {
    const others = 'array(select r from unnest(recipients) as r where r !~ $2)';
    const values = [organizationId, pattern];
    const gone = await sql.query(`delete from decision_rule where ${where} and ${others} = '{}' returning 1`, values);
    const cleared = await sql.query(
      `update decision_rule set recipients = ${others} where ${where} returning 1`,
      values,
    );
    return { counts: { decision_rule: gone.length + cleared.length }, more: false };
  });
}

async function clearSuppression(run: Run, organizationId: string, address: string): Promise<void> {
  const where = 'organization_id = $1 and address = $2';
  if (!isReal(run)) return countRows(run, 'suppression', where, [organizationId, address]);
  await inPortions(run, 'suppression', async (sql) => {
    const hash = erasedAddress('organization_id', 'address');
    // If the hash is there already, from an earlier erasure, the new entry goes.
    const gone = await sql.query(
      `delete from suppression s where ${where} and exists (select from suppression h
          where h.organization_id = s.organization_id and h.address = ${erasedAddress('s.organization_id', 's.address')}) returning 1`,
      [organizationId, address],
    );
    const cleared = await sql.query(
      `update suppression set address = ${hash}, message_id = null where ${where} returning 1`,
      [organizationId, address],
    );
    return { counts: { suppression: gone.length + cleared.length }, more: false };
  });
}
