/**
 * What the workflow of a message that may not go yet finds when it looks: waiting for consent, decided, out of time, or
 * waiting for the time it is scheduled for. The rows say it; the workflow's timer and signal only make it look.
 *
 *   held ──approved──▶ its time is there? ──yes──▶ sending
 *                             └─no─▶ scheduled ──its time──▶ sending
 */
import { denyByService } from '../../core/decide-consent.ts';
import { hashContent, threadKnown } from '../../core/outbound-consent.ts';
import { recordEvents } from '../../core/record-event.ts';
import { askLists } from '../../core/sender-lists.ts';
import type { Sql } from '../../db/database.ts';
import type { ConsentScope, ConsentStatus } from '../../domain/consent.ts';
import { OUTBOUND_OVERDUE_MS } from '../../domain/outbound.ts';
import type { GateResult } from '../../domain/outbound-workflow.ts';
import { SenderRefused, type SendingServices } from './deliver-here.ts';
import { earlierCopy } from './earlier-copy.ts';
import { blockedEvent, type OutboundBlockedReason } from './outbound-events.ts';
import {
  changeRecipients,
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  readContent,
  type Sender,
} from './outbound-message.ts';
import { afterCommit, release } from './release-message.ts';

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
  // Written before the consent is read: a decision makes the message due sooner, which must not be overwritten.
  await db.query(WAIT_FOR_EXPIRY, [messageId, OUTBOUND_OVERDUE_MS / 1_000]);
  const consent = await findConsent(db, message);
  const sender = await findSender(db, message.mailboxId, 'any');
  if (sender === undefined) return { kind: 'ended' };
  if (message.state === 'scheduled' && message.consentId === null)
    return releaseInTime(services, sender, message, undefined);
  if (consent === undefined) {
    await refuseRelease(services, sender, message, 'content_changed');
    return { kind: 'ended' };
  }
  switch (consent.status) {
    case 'pending': {
      const late = consent.expiresAt.getTime() <= services.now();
      const denial = sender.status === 'deleting' ? 'mailbox deleted' : late ? 'expired' : undefined;
      if (denial === undefined) return { kind: 'held', expiresAtMs: consent.expiresAt.getTime() };
      // Decided at this very moment: the next look sees how.
      return (await denyByService(services, message.consentId ?? '', denial))
        ? { kind: 'ended' }
        : passConsentGate(services, messageId);
    }
    case 'denied':
      return { kind: 'ended' };
    case 'approved':
      return releaseInTime(services, sender, message, consent);
  }
}

const WAIT_FOR_EXPIRY = `
  update outbound_message o set due_at = c.expires_at + make_interval(secs => $2)
    from consent c where o.id = $1 and o.state = 'held' and c.id = o.consent_id`;

async function findConsent(sql: Sql, { consentId }: OutboundMessage): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(
    `select status, scope, recipients, content_hash as "contentHash", expires_at as "expiresAt" from consent where id = $1`,
    [consentId],
  );
  return row;
}

async function releaseInTime(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  const { sendAt } = message;
  const isDue = sendAt === null || sendAt.getTime() <= services.now();
  if (isDue || sender.status === 'deleting') return releaseWaiting(services, sender, message, consent);
  const rows = await services.db.query(
    `update outbound_message set state = 'scheduled', due_at = $2 where id = $1 and state in ('held', 'scheduled')
     returning 1`,
    [message.id, new Date(sendAt.getTime() + OUTBOUND_OVERDUE_MS)],
  );
  return rows.length === 0 ? { kind: 'ended' } : { kind: 'scheduled', sendAtMs: sendAt.getTime() };
}

/** Releases exactly what was approved or submitted, once; what cannot be released any more is ended. */
async function releaseWaiting(
  services: SendingServices,
  sender: Sender,
  held: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  const refused = async (reason: OutboundBlockedReason): Promise<GateResult> => {
    await refuseRelease(services, sender, held, reason);
    return { kind: 'ended' };
  };
  if (sender.status !== 'active') return refused('mailbox_not_active');
  const bytes = await readContent(services.db, held);
  try {
    const released = await services.db.transaction(async (sql) => {
      const message = await lockOutbound(sql, held.id);
      if (message?.state !== 'held' && message?.state !== 'scheduled') return undefined;
      const recipients = await findRecipients(sql, message.id);
      const hash = hashContent(
        bytes,
        recipients.map(({ address }) => address),
      );
      if (!hash.equals(consent?.contentHash ?? message.contentHash)) return 'changed';
      const blocked = await refuseBlockedHere(sql, services, sender, message, recipients);
      const done = await release(sql, services, sender, await withFiledCopy(sql, message), bytes, null);
      if (consent?.scope === 'message' && done.threadId !== null)
        await sql.query(REMEMBER_THREAD, [
          message.organizationId,
          consent.recipients.map((address) => threadKnown(done.threadId ?? '', address)),
          message.consentId,
        ]);
      return { ...done, owed: done.owed + blocked };
    });
    if (released === 'changed') return await refused('content_changed');
    // Withdrawn, or released by another look, at this very moment: the rows say which.
    if (released === undefined) return await passConsentGate(services, held.id);
    afterCommit(services, released);
    return { kind: 'released' };
  } catch (error) {
    if (!(error instanceof SenderRefused)) throw error;
    return refused(error.kind === 'over-quota' ? 'quota_exceeded' : 'mailbox_not_active');
  }
}

/** Recipients here that were put on a block list while the message was held; the others are looked at before attempts. */
async function refuseBlockedHere(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  recipients: readonly OutboundRecipient[],
): Promise<number> {
  const here = recipients.filter(({ local }) => local);
  const verdicts = await askLists(sql, {
    organizationId: message.organizationId,
    mailboxId: message.mailboxId,
    direction: 'outbound',
    addresses: here.map(({ address }) => address),
  });
  const blocked = here.filter(({ address }) => verdicts.get(address.toLowerCase())?.action === 'block');
  if (blocked.length === 0) return 0;
  const now = new Date(services.now());
  const reason = 'blocked_recipient';
  await changeRecipients(
    sql,
    message.id,
    blocked.map(({ number }) => ({ number, status: 'denied', reply: reason, code: '5.7.1' })),
    now,
  );
  const rule = verdicts.get(blocked[0]?.address.toLowerCase() ?? '')?.value ?? null;
  const told = { recipients: blocked.map(({ address }) => address), reason, rule } as const;
  return recordEvents(sql, [blockedEvent(sender, message, told, now)]);
}

/** A mail client may have filed its copy while the message was held: then none is filed beside it. */
async function withFiledCopy(sql: Sql, message: OutboundMessage): Promise<OutboundMessage> {
  if (message.filed) return message;
  const copy = await earlierCopy(sql, message.mailboxId, message.messageIdHeader, message.submittedAt);
  return copy === undefined ? message : { ...message, filed: true, threadId: copy.threadId };
}

const REMEMBER_THREAD = `
  insert into known_recipient (organization_id, kind, value, source, consent_id)
  select $1, 'thread', value, 'approved', $3 from unnest($2::text[]) as value order by value
  on conflict do nothing`;

/** Ends a held message that cannot be released, whatever was decided. */
async function refuseRelease(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  reason: OutboundBlockedReason,
): Promise<void> {
  const now = new Date(services.now());
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
