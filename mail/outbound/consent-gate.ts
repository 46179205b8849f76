/**
 * What the workflow of a held message finds when it looks: still waiting, decided, or out of time. The rows say it; the
 * workflow's timer and signal only make it look.
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
  if (message.state !== 'held') return { kind: message.state === 'sending' ? 'released' : 'ended' };
  const consent = await findConsent(db, message);
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
      return releaseHeld(services, message, consent);
  }
}

async function findConsent(sql: Sql, { consentId }: OutboundMessage): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(
    `select status, scope, recipients, content_hash as "contentHash", expires_at as "expiresAt" from consent where id = $1`,
    [consentId],
  );
  return row;
}

/** Releases exactly what was approved, once. */
async function releaseHeld(services: SendingServices, held: OutboundMessage, consent: ConsentRow): Promise<GateResult> {
  const sender = await findSender(services.db, held.mailboxId);
  if (sender === undefined) return { kind: 'ended' };
  const bytes = await readBlob(services.db, held.blob, 0, held.size);
  try {
    const released = await services.db.transaction(async (sql) => {
      const message = await lockOutbound(sql, held.id);
      if (message?.state !== 'held') return undefined;
      const recipients = await findRecipients(sql, message.id);
      const hash = hashContent(
        bytes,
        recipients.map(({ address }) => address),
      );
      if (!hash.equals(consent.contentHash)) throw new Error(`${message.id} is not what was approved`);
      const done = await release(sql, services, sender, message, bytes);
      if (consent.scope === 'message' && done.threadId !== null)
        await sql.query(REMEMBER_THREAD, [
          message.organizationId,
          consent.recipients.map((address) => threadKnown(done.threadId ?? '', address)),
          message.consentId,
        ]);
      return done;
    });
    if (released !== undefined) afterCommit(services, released);
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
      `update outbound_message set state = 'denied', finished_at = $2 where id = $1 and state = 'held' returning 1`,
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
