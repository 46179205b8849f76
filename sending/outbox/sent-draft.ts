/** The draft a message is made from: recorded when the message is submitted, and restored when that is withdrawn. */

import { StoreRefused } from '@agent-mailbox/mail-store';
import { addressesOfText, type MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Database, Sql } from '#db/database.ts';
import { ID_PREFIXES } from '#domain/ids.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { appendMessages, type PreparedAppend, prepareAppends } from '#mailstore/delivery/append.ts';
import type { LockedFolders } from '#mailstore/folders/lock-folders.ts';
import type { KeptDraft, OutboundMessage, OutboundRecipient } from './outbound-message.ts';

/**
 * Records the draft of a message. Call it before the draft is removed, in the same transaction.
 *
 * @param messageId the draft's message, if the caller knows it; messages in Drafts with the Message-ID count too
 */
export async function keepDraft(
  sql: Sql,
  mailboxId: string,
  outboundId: string,
  draft: { readonly messageIdHeader: string; readonly messageId: string | null },
): Promise<void> {
  await sql.query(KEEP, [mailboxId, draft.messageId, draft.messageIdHeader, outboundId]);
}

const KEEP = `
  update outbound_message o set draft = jsonb_build_object(
           'id', coalesce(d.id, '${ID_PREFIXES.draft}' || substr(m.id, ${ID_PREFIXES.message.length + 1})),
           'clientId', d.client_id, 'clientHashes', d.client_hashes::text[], 'sendAt', d.send_at, 'createdAt', coalesce(d.created_at, m.received_at))
    from folder f join placement p on p.folder_id = f.id join message m on m.id = p.message_id
    left join draft d on d.message_id = m.id
   where o.id = $4 and f.mailbox_id = $1 and f.special_use = '\\Drafts' and f.deleted_at is null
     and (m.id = $2 or ($2::text is null and m.message_id_header = $3))`;

/**
 * The draft as a message again, with all its recipients: those that no other field contains are in Bcc. Call it outside
 * of transactions.
 */
export async function prepareDraft(
  db: Database,
  address: string,
  message: OutboundMessage,
  bytes: Buffer,
  recipients: readonly OutboundRecipient[],
  now: Date,
): Promise<PreparedAppend | undefined> {
  const named = new Set([...message.to, ...message.cc].flatMap(addressesOfText).map(placeOf));
  const hidden = recipients.map(({ address: to }) => to).filter((to) => !named.has(to.toLowerCase()));
  const bcc = hidden.length === 0 ? '' : `Bcc: ${hidden.join(',\r\n ')}\r\n`;
  const whole = Buffer.concat([Buffer.from(bcc), bytes]);
  const content = { size: whole.length, bytes: () => Promise.resolve(whole), discard: () => Promise.resolve() };
  const append = {
    content,
    flags: MAIL_FLAGS.draft | MAIL_FLAGS.seen,
    keywords: message.labels,
    internalDate: null,
  };
  const account = { mailboxId: message.mailboxId, address };
  const [prepared] = await prepareAppends(db, account, [append], now, 'draft').catch(unlessRefused);
  return prepared;
}

const placeOf = ({ address }: MailAddress): string => address.toLowerCase();

/**
 * Files it under its previous id. Call it under the lock of Drafts.
 *
 * @returns false if the mailbox has no room for it
 */
export async function bringBackDraft(
  sql: Sql,
  locked: LockedFolders,
  folderId: number,
  prepared: PreparedAppend,
  draft: KeptDraft,
): Promise<boolean> {
  const filed = await appendMessages(sql, locked, folderId, [prepared]).catch(unlessRefused);
  if (filed.length === 0) return false;
  const { mailbox_id: mailboxId } = locked.counter;
  await sql.query(INSERT, [
    draft.id,
    mailboxId,
    prepared.messageId,
    draft.clientId,
    draft.sendAt,
    draft.createdAt,
    draft.clientHashes,
  ]);
  return true;
}

/** Another draft may have the client id by now. */
const INSERT = `
  insert into draft (id, mailbox_id, message_id, client_id, send_at, created_at, client_hashes)
  select $1, $2, $3,
         case when exists (select from draft where mailbox_id = $2 and client_id = $4) then null else $4 end, $5, $6,
         $7::text[]::bytea[]
  on conflict (id) do update set message_id = excluded.message_id`;

function unlessRefused(error: unknown): [] {
  if (error instanceof StoreRefused) return [];
  throw error;
}
