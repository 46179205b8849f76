/**
 * The erasure of a mailbox: first nobody reaches it any more, then its mail, then what it was announced and logged with,
 * at last its own row. Other mailboxes of the organization do not change.
 */
import { closeMailbox } from '#core/mailboxes/delete-mailbox.ts';
import { handOversEnded } from '#core/mailboxes/sending-brakes.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { deleteFolders } from '#mailstore/upkeep/purge.ts';
import { eraseDeliveries } from './erase-deliveries.ts';
import { eraseMailOf } from './erase-mail.ts';
import { clearAuditOfMailbox, eraseAnswers, eraseReceived, eraseRefusals } from './erase-records.ts';
import { eraseRows, isReal, type Run } from './portions.ts';

export interface MailboxToErase {
  readonly id: string;
  readonly organizationId: string;
  readonly address: string;
}

export type ErasureServices = Pick<Services, 'db' | 'now' | 'pepper'>;

type Step = readonly [table: string, where: string];

const OF = 'mailbox_id = $1';
const FOLDERS = 'folder_id in (select id from folder where mailbox_id = $1)';
const IN_ORGANIZATION = 'organization_id = (select organization_id from mailboxes where id = $1)';
const ENDPOINTS = 'select id from webhook_endpoints where mailbox_id = $1';

const CREDENTIALS: readonly Step[] = [
  ['oauth_tokens', `grant_id in (select id from oauth_grants where ${OF})`],
  ['oauth_grants', OF],
  ['mailbox_token', OF],
];

/** What refers to rows that go with the mail. */
const BEFORE_MAIL: readonly Step[] = [
  ['known_recipient', `${IN_ORGANIZATION} and kind = 'thread' and consent_id in (select id from consent where ${OF})`],
  ['member_notices', `${IN_ORGANIZATION} and (target_id = $1 or target_id in (${ENDPOINTS}))`],
];

const AFTER_MAIL: readonly Step[] = [
  ['expunged', FOLDERS],
  ['change_log', OF],
  ['decision_log', OF],
  ['folder', OF],
  ['thread_ref', OF],
  ['delivery_seen', OF],
  ['held_arrival', OF],
  ['released_thread', OF],
  ['sender_read', OF],
  ['mailbox_canary', OF],
  ['mailbox_alias', OF],
  ['imported_message', OF],
  ['standing_approval', OF],
  ['mail_keyword', OF],
  ['subscription', OF],
  ['mailbox_counter', OF],
  ['mailbox_move_part', `move_id in (select id from mailbox_move where ${OF})`],
  ['mailbox_move', OF],
  ['mailbox_file_chunk', `file_id in (select id from mailbox_file where ${OF})`],
  ['mailbox_file', OF],
  ['sending_use', 'scope_id = $1'],
  ['mailbox_login', OF],
  ['mailbox_sending', OF],
  ['legal_hold', OF],
  ['sender_list', OF],
  ['recoveries', `endpoint_id in (${ENDPOINTS})`],
  ['webhook_endpoints', OF],
];

const eraseAll = async (run: Run, steps: readonly Step[], id: string): Promise<void> => {
  for (const [table, where] of steps) await eraseRows(run, table, where, [id]);
};

async function close(services: ErasureServices, { id, organizationId }: MailboxToErase): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const [open] = await sql.query(`select 1 from mailboxes where id = $1 and deleted_at is null`, [id]);
    if (open !== undefined) await closeMailbox(services, em, organizationId, id);
    const folders = await sql.query<{ id: number }>(
      `select id from folder where mailbox_id = $1 and deleted_at is null order by id`,
      [id],
    );
    await deleteFolders(
      sql,
      id,
      folders.map((folder) => folder.id),
    );
  });
  // An attempt that is in flight may still reach the other host; later ones find no row.
  await handOversEnded(services.db, { organizationId, mailboxId: id });
}

/** @param shared false: tables that are read as a whole are left to the erasure of the organization */
export async function eraseMailbox(
  services: ErasureServices,
  run: Run,
  mailbox: MailboxToErase,
  shared = true,
): Promise<void> {
  const { id, organizationId, address } = mailbox;
  await eraseAll(run, CREDENTIALS, id);
  if (isReal(run)) await close(services, mailbox);
  if (shared) await clearAuditOfMailbox(run, organizationId, id);
  await eraseAll(run, BEFORE_MAIL, id);
  await eraseMailOf(run, id);
  await eraseAll(run, AFTER_MAIL, id);
  if (shared) {
    await eraseDeliveries(run, {
      events: 'e.organization_id = $1 and e.mailbox_id = $2',
      deliveries: 'd.organization_id = $1 and d.mailbox_id = $2',
      values: [organizationId, id],
    });
    await eraseReceived(run, organizationId, id);
    await eraseRefusals(run, [address, id]);
    await eraseAnswers(run, [id]);
  }
  await eraseRows(run, 'mailboxes', 'id = $1', [id]);
}
