/** Other mail that a held message carries, for the person who decides: stored with the request, shown beside it. */
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Sql } from '#db/database.ts';

/** Two places that say the same. */
export interface CarriedPassage {
  /** As the message says it, decoded. */
  readonly sent: string;
  /** As the other mail says it. */
  readonly source: string;
}

/** Other mail that a message carries passages of. */
export interface CarriedSource {
  readonly messageId: string;
  /** How many different ones. */
  readonly count: number;
  /** The first of them. */
  readonly passages: readonly CarriedPassage[];
}

/** A source as a person is shown it. What is deleted meanwhile is left out. */
export interface ShownSource extends CarriedSource {
  readonly mailboxId: string;
  readonly from: MailAddress | null;
  readonly subject: string;
  readonly receivedAt: Date;
}

export async function storeSources(sql: Sql, consentId: string, sources: readonly CarriedSource[]): Promise<void> {
  if (sources.length === 0) return;
  await sql.query(STORE, [
    consentId,
    JSON.stringify(sources.map(({ messageId, count, passages }) => ({ message_id: messageId, count, passages }))),
  ]);
}

/** What was deleted since it was compared is left out. */
const STORE = `
  insert into carried_passage (consent_id, message_id, number, count, passages)
  select $1, s.message_id, row_number() over (), s.count, s.passages
    from json_to_recordset($2::json) as s (message_id text, count int, passages jsonb)
   where exists (select from message m where m.id = s.message_id)`;

interface SourceRow {
  readonly message_id: string;
  readonly count: number;
  readonly passages: readonly CarriedPassage[];
  readonly mailbox_id: string;
  readonly from_addresses: readonly MailAddress[];
  readonly subject: string;
  readonly received_at: Date;
}

/**
 * Most passages first. The caller has found the request in its organization.
 *
 * @param groups of mailboxes that the reader may see; null: all. Passages of others are left out
 */
export async function findSources(
  sql: Sql,
  organizationId: string,
  consentId: string,
  groups: readonly string[] | null,
): Promise<ShownSource[]> {
  const rows = await sql.query<SourceRow>(FIND, [consentId, organizationId, groups]);
  return rows.map((row) => ({
    messageId: row.message_id,
    count: row.count,
    passages: row.passages,
    mailboxId: row.mailbox_id,
    from: row.from_addresses[0] ?? null,
    subject: row.subject,
    receivedAt: row.received_at,
  }));
}

const FIND = `
  select p.message_id, p.count, p.passages, m.mailbox_id, m.from_addresses, m.subject, m.received_at
    from carried_passage p join message m on m.id = p.message_id join mailboxes x on x.id = m.mailbox_id
   where p.consent_id = $1 and x.organization_id = $2 and ($3::text[] is null or x.group_name = any($3))
   order by p.number`;
