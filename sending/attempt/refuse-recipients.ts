/** Recipients that may no longer be written to, because something changed since the submission. */
import { recordEvents } from '#core/events/record-event.ts';
import { pausedBecause } from '#core/mailboxes/sending-health.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import { findSuppressed } from '#sending/lists/suppressions.ts';
import { finishIfDone } from '#sending/local-delivery/deliver-here.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { blockedEvent, type OutboundBlockedReason } from '#sending/outbox/outbound-events.ts';
import {
  changeRecipients,
  findRecipients,
  isOpen,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';

/** A message that needed consent leaves only with it, whatever else the rows say. */
async function lacksConsent({ db }: SendingServices, { consentId }: OutboundMessage): Promise<boolean> {
  if (consentId === null) return false;
  const rows = await db.query(`select 1 from consent where id = $1 and status = 'approved'`, [consentId]);
  return rows.length === 0;
}

/** Mailbox, consent, pause, suppressions and lists are checked again before each round. */
export async function refuseWhatChanged(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
): Promise<void> {
  const open = (await findRecipients(services.db, message.id)).filter(isOpen);
  if (open.length === 0) return;
  if (sender.status !== 'active')
    return refuse(services, sender, message, open, { status: 'denied', reason: 'mailbox_not_active', rule: null });
  if (await lacksConsent(services, message))
    return refuse(services, sender, message, open, { status: 'denied', reason: 'content_changed', rule: null });
  const paused = await pausedBecause(services.db, message.mailboxId);
  if (paused !== undefined)
    return refuse(services, sender, message, open, { status: 'denied', reason: 'sending_paused', rule: paused });
  const addresses = open.map(({ address }) => address.toLowerCase());
  const suppressed = await findSuppressed(services.db, message.organizationId, addresses);
  const gone = new Set(suppressed.map(({ address }) => address));
  const stopped = open.filter(({ address }) => gone.has(address.toLowerCase()));
  if (stopped.length > 0)
    await refuse(services, sender, message, stopped, {
      status: 'suppressed',
      reason: 'suppressed_recipient',
      rule: suppressed[0]?.reason ?? null,
    });
  const verdicts = await askLists(services.db, {
    organizationId: message.organizationId,
    mailboxId: message.mailboxId,
    direction: 'outbound',
    addresses,
  });
  const blocked = open.filter(
    ({ address }) => verdicts.get(address.toLowerCase())?.action === 'block' && !gone.has(address.toLowerCase()),
  );
  if (blocked.length > 0)
    await refuse(services, sender, message, blocked, {
      status: 'denied',
      reason: 'blocked_recipient',
      rule: verdicts.get(blocked[0]?.address.toLowerCase() ?? '')?.value ?? null,
    });
}

interface Refusal {
  readonly status: 'denied' | 'suppressed';
  readonly reason: OutboundBlockedReason;
  readonly rule: string | null;
}

/** Ends these recipients and records `email_blocked`, where nothing else has ended them meanwhile. */
export async function refuse(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  recipients: readonly OutboundRecipient[],
  { status, reason, rule }: Refusal,
): Promise<void> {
  const now = new Date(services.now());
  const numbers = new Set(recipients.map(({ number }) => number));
  const owed = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    // An attempt beside this one may have ended meanwhile: what it did stays.
    const open = (await findRecipients(sql, message.id)).filter((each) => numbers.has(each.number) && isOpen(each));
    const changes = open.map(({ number }) => ({ number, status, reply: reason, code: '5.7.1' }));
    await changeRecipients(sql, message.id, changes, now);
    await finishIfDone(sql, message.id, now);
    if (open.length === 0) return 0;
    const blocked = { recipients: open.map(({ address }) => address), reason, rule };
    return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
  });
  afterCommit(services, { folderIds: [], owed });
}
