/**
 * What the workflow of a message that may not go yet finds when it looks: waiting for consent, decided, out of time, or
 * waiting for the time it is scheduled for. The rows say it; the workflow's timer and signal only make it look.
 *
 *   held ──approved──▶ its time is there? ──yes──▶ sending
 *                             └─no─▶ scheduled ──its time──▶ sending
 */
import { readBlob } from '../../core/blob-store.ts';
import { expireConsent } from '../../core/decide-consent.ts';
import { hashContent, threadKnown } from '../../core/outbound-consent.ts';
import { recordEvents } from '../../core/record-event.ts';
import type { Sql } from '../../db/database.ts';
import type { ConsentScope, ConsentStatus } from '../../domain/consent.ts';
import { OUTBOUND_OVERDUE_MS } from '../../domain/outbound.ts';
import type { GateResult } from '../../domain/outbound-workflow.ts';
import { SenderRefused, type SendingServices } from './deliver-here.ts';
import { blockedEvent } from './outbound-events.ts';
import {
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  type Sender,
} from './outbound-message.ts';
import { afterCommit, release } from './submit-message.ts';

interface ConsentRow {
  readonly status: ConsentStatus;
  readonly scope: ConsentScope | null;
  readonly recipients: readonly string[];
  readonly contentHash: Buffer;
  readonly expiresAt: Date;
}

export async function passConsentGate(services: SendingServices, messageId: string): Promise<GateResult> {
  const { db } = services;
  const message = await findOutbound(db, messageId);
  if (message === undefined) return { kind: 'ended' };
  if (message.state !== 'held' && message.state !== 'scheduled')
    return { kind: message.state === 'sending' ? 'released' : 'ended' };
  const consent = await findConsent(db, message);
  if (message.state === 'scheduled') return releaseInTime(services, message, consent);
  if (consent === undefined) throw new Error(`${messageId} is held without a request for consent`);
  switch (consent.status) {
    case 'pending':
      if (consent.expiresAt.getTime() > services.now()) {
        await db.query(`update outbound_message set due_at = $2 where id = $1`, [
          messageId,
          new Date(consent.expiresAt.getTime() + OUTBOUND_OVERDUE_MS),
        ]);
        return { kind: 'held', expiresAtMs: consent.expiresAt.getTime() };
      }
      // Decided at this very moment: the next look sees how.
      return (await expireConsent(services, message.consentId ?? ''))
        ? { kind: 'ended' }
        : passConsentGate(services, messageId);
    case 'denied':
      return { kind: 'ended' };
    case 'approved':
      return releaseInTime(services, message, consent);
  }
}

async function findConsent(sql: Sql, { consentId }: OutboundMessage): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(
    `select status, scope, recipients, content_hash as "contentHash", expires_at as "expiresAt" from consent where id = $1`,
    [consentId],
  );
  return row;
}

async function releaseInTime(
  services: SendingServices,
  message: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  const { sendAt } = message;
  if (sendAt === null || sendAt.getTime() <= services.now()) return releaseWaiting(services, message, consent);
  const rows = await services.db.query(
    `update outbound_message set state = 'scheduled', due_at = $2 where id = $1 and state in ('held', 'scheduled')
     returning 1`,
    [message.id, new Date(sendAt.getTime() + OUTBOUND_OVERDUE_MS)],
  );
  return rows.length === 0 ? { kind: 'ended' } : { kind: 'scheduled', sendAtMs: sendAt.getTime() };
}

/** Releases exactly what was approved or submitted, once. */
async function releaseWaiting(
  services: SendingServices,
  held: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  const sender = await findSender(services.db, held.mailboxId);
  if (sender === undefined) return { kind: 'ended' };
  const bytes = await readBlob(services.db, held.blob, 0, held.size);
  try {
    const released = await services.db.transaction(async (sql) => {
      const message = await lockOutbound(sql, held.id);
      if (message?.state !== 'held' && message?.state !== 'scheduled') return undefined;
      const recipients = await findRecipients(sql, message.id);
      const hash = hashContent(
        bytes,
        recipients.map(({ address }) => address),
      );
      if (!hash.equals(consent?.contentHash ?? message.contentHash))
        throw new Error(`${message.id} is not what was approved`);
      const done = await release(sql, services, sender, message, bytes, null);
      if (consent?.scope === 'message' && done.threadId !== null)
        await sql.query(REMEMBER_THREAD, [
          message.organizationId,
          consent.recipients.map((address) => threadKnown(done.threadId ?? '', address)),
          message.consentId,
        ]);
      return done;
    });
    // Withdrawn, or released by another look, at this very moment: the rows say which.
    if (released === undefined) return await passConsentGate(services, held.id);
    afterCommit(services, released);
    return { kind: 'released' };
  } catch (error) {
    if (!(error instanceof SenderRefused)) throw error;
    await refuseRelease(services, sender, held, error);
    return { kind: 'ended' };
  }
}

const REMEMBER_THREAD = `
  insert into known_recipient (organization_id, kind, value, source, consent_id)
  select $1, 'thread', value, 'approved', $3 from unnest($2::text[]) as value order by value
  on conflict do nothing`;

/** The sender's mailbox is full or closed by now. */
async function refuseRelease(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  { kind }: SenderRefused,
): Promise<void> {
  const now = new Date(services.now());
  const reason = kind === 'over-quota' ? 'quota_exceeded' : 'mailbox_not_active';
  const owed = await services.db.transaction(async (sql) => {
    const rows = await sql.query(
      `update outbound_message set state = 'denied', finished_at = $2 
        where id = $1 and state in ('held', 'scheduled') returning 1`,
      [message.id, now],
    );
    if (rows.length === 0) return 0;
    const refused = await sql.query<{ address: string }>(
      `update outbound_recipient set status = 'denied', reply = $2, code = '5.2.0', updated_at = $3
        where message_id = $1 returning address`,
      [message.id, reason, now],
    );
    const blocked = { recipients: refused.map(({ address }) => address), reason, rule: null } as const;
    return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
  });
  afterCommit(services, { folderIds: [], owed });
}
