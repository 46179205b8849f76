import type { Quota } from '@agent-mailbox/mail-store';
import type { Sql } from '#db/database.ts';

export async function readQuota(sql: Sql, mailboxId: string): Promise<Quota> {
  const [row] = await sql.query<{ bytes_used: number; quota_bytes: number; messages: number }>(READ_QUOTA, [mailboxId]);
  return { usedBytes: row?.bytes_used ?? 0, limitBytes: row?.quota_bytes ?? 0, messages: row?.messages ?? 0 };
}

const READ_QUOTA = `select bytes_used, quota_bytes, messages from mailbox_counter where mailbox_id = $1`;
