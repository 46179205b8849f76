/**
 * Withdraws a message that has reached nobody: it waits for consent, for its time, or for its first attempt. The copy
 * in Sent is removed, and the draft it was made from is restored, in one transaction with the end of the message.
 */

import { recordEvents } from '#core/events/record-event.ts';
import type { Sql } from '#db/database.ts';
import type { OutboundState } from '#domain/sending/outbound.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';
import { removePlacements } from '#mailstore/folders/placements.ts';
import { type EndedRequest, withdrawConsent } from '#sending/consent/decide-consent.ts';
import { logDecisions } from '#sending/consent/decision-records.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { blockedEvent } from '#sending/outbox/outbound-events.ts';
import {
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  readContent,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { bringBackDraft, prepareDraft } from '#sending/outbox/own-mail.ts';

/** Waits for consent or for its time. */
const WAITING: readonly OutboundState[] = ['held', 'scheduled'];

/** Whether no recipient has got it, and no attempt is in flight. */
export const mayBeWithdrawn = (
  { state }: Pick<OutboundMessage, 'state'>,
  recipients: readonly Pick<OutboundRecipient, 'status'>[],
): boolean => WAITING.includes(state) || (state === 'sending' && recipients.every(({ status }) => status === 'queued'));

type Withdrawal =
  | {
      readonly kind: 'withdrawn';
      /** The restored draft; null: there was none, or the mailbox has no room for it. */
      readonly draftId: string | null;
    }
  /** The mailbox submitted no such message. */
  | { readonly kind: 'unknown' }
  /** It is final, or being sent. */
  | { readonly kind: 'too_late' };

/**
 * Signal its workflow afterwards (`signalDecided`).
 *
 * @param which `waiting`: not queued messages, which are in Sent like any mail
 */
export async function withdrawMessage(
  services: SendingServices,
  mailboxId: string,
  messageId: string,
  actor: Actor,
  which: 'waiting' | 'queued_too' = 'waiting',
): Promise<Withdrawal> {
  const { db } = services;
  const found = await findOutbound(db, messageId);
  const sender = await findSender(db, mailboxId);
  if (found === undefined || found.mailboxId !== mailboxId || sender === undefined) return { kind: 'unknown' };
  const isWanted = (message: OutboundMessage, recipients: readonly OutboundRecipient[]) =>
    mayBeWithdrawn(message, recipients) && (which === 'queued_too' || WAITING.includes(message.state));
  const before = await findRecipients(db, messageId);
  if (!isWanted(found, before)) return { kind: 'too_late' };
  const now = new Date(services.now());
  const draft =
    found.draft === null || found.blob === null
      ? undefined
      : await prepareDraft(db, sender.mailbox.address, found, await readContent(db, found), before, now);

  const done = await db.transaction(async (sql) => {
    // The request first, then the message: as decisions lock them.
    const ended = found.consentId === null ? undefined : await withdrawConsent(sql, found.consentId, actor, now);
    const message = await lockOutbound(sql, messageId);
    const recipients = await findRecipients(sql, messageId);
    if (message === undefined) return undefined;
    if (ended === undefined && !isWanted(message, recipients)) return undefined;
    const isSame = message.blob !== null && found.blob !== null && message.blob.equals(found.blob);
    const owed = ended?.owed ?? (await end(sql, sender, { ...message, actor }, now));
    const folders = await ownFolders(sql, mailboxId, messageId);
    const locked = folders.ids.length === 0 ? undefined : await lockFolders(sql, mailboxId, folders.ids);
    for (const { folderId, uid } of folders.sent)
      if (locked?.folders.has(folderId))
        await removePlacements(sql, locked, folderId, [uid], { onlyDeleted: false, purge: true });
    const kept = message.draft;
    const isBack =
      kept !== null && draft !== undefined && isSame && locked !== undefined && folders.drafts !== null
        ? await bringBackDraft(sql, locked, folders.drafts, draft, kept)
        : false;
    // The id of a draft is the client id of its submission: it may be sent again.
    if (kept !== null)
      await sql.query(`update outbound_message set client_id = null where id = $1 and client_id = $2`, [
        messageId,
        kept.id,
      ]);
    await logDecisions(sql, ended === undefined ? [] : [ended.consent]);
    return { owed, folderIds: folders.ids, draftId: isBack ? (kept?.id ?? null) : null };
  });
  if (done === undefined) return { kind: 'too_late' };
  afterCommit(services, done);
  return { kind: 'withdrawn', draftId: done.draftId };
}

/** Ends a message without an open request for consent. @returns webhook deliveries to dispatch */
async function end(sql: Sql, sender: Sender, message: OutboundMessage, now: Date): Promise<EndedRequest['owed']> {
  await sql.query(`update outbound_message set state = 'denied', finished_at = $2 where id = $1`, [message.id, now]);
  const stopped = await sql.query<{ address: string }>(
    `update outbound_recipient set status = 'denied', reply = 'cancelled', code = '5.7.1', updated_at = $2
      where message_id = $1 returning address`,
    [message.id, now],
  );
  const blocked = { recipients: stopped.map(({ address }) => address), reason: 'cancelled', rule: null } as const;
  return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
}

interface OwnFolders {
  readonly ids: readonly number[];
  readonly drafts: number | null;
  /** The copy that was filed at the release; never one that a client filed. */
  readonly sent: readonly { readonly folderId: number; readonly uid: number }[];
}

async function ownFolders(sql: Sql, mailboxId: string, messageId: string): Promise<OwnFolders> {
  const [drafts] = await sql.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and special_use = '\\Drafts' and deleted_at is null`,
    [mailboxId],
  );
  const sent = await sql.query<{ folderId: number; uid: number }>(
    `select p.folder_id as "folderId", p.uid from placement p join message m on m.id = p.message_id
       join folder f on f.id = p.folder_id
      where m.id = $1 and m.mailbox_id = $2 and m.origin = 'submission' and f.deleted_at is null order by 1, 2`,
    [messageId, mailboxId],
  );
  const ids = [...new Set([...(drafts === undefined ? [] : [drafts.id]), ...sent.map(({ folderId }) => folderId)])];
  return { ids, drafts: drafts?.id ?? null, sent };
}
