/** Events of outgoing mail. */
import type { NewEvent } from '#core/events/record-event.ts';
import type { OutboundMessage, Sender } from './outbound-message.ts';

/** How a recipient was reached first. */
export type SentVia = 'local' | 'capture' | 'relay' | 'mx';

type Facts = Pick<OutboundMessage, 'id' | 'from' | 'to' | 'cc' | 'subject' | 'actor'>;

const about = ({ organization, mailbox }: Sender, message: Pick<OutboundMessage, 'actor'>, occurredAt: Date) => ({
  organization,
  mailbox,
  actor: message.actor,
  occurredAt,
});

export const sentEvent = (
  sender: Sender,
  message: Facts,
  threadId: string,
  via: SentVia,
  occurredAt: Date,
): NewEvent => ({
  ...about(sender, message, occurredAt),
  type: 'email_sent',
  data: {
    messageId: message.id,
    threadId,
    from: message.from,
    to: message.to,
    cc: message.cc,
    subject: message.subject,
    sentAt: occurredAt.toISOString(),
    via,
  },
});

/** Why outgoing mail was refused. */
export type OutboundBlockedReason =
  | 'blocked_recipient'
  | 'suppressed_recipient'
  | 'consent_denied'
  | 'consent_expired'
  | 'content_changed'
  | 'mailbox_not_active'
  | 'sending_paused'
  | 'sending_stopped'
  | 'drafts_only'
  | 'plan_limit'
  | 'quota_exceeded'
  | 'cancelled';

export const blockedEvent = (
  sender: Sender,
  message: Omit<Facts, 'id' | 'to' | 'cc'> & { readonly id: string | null },
  blocked: {
    readonly recipients: readonly string[];
    readonly reason: OutboundBlockedReason;
    readonly rule: string | null;
  },
  occurredAt: Date,
): NewEvent => ({
  ...about(sender, message, occurredAt),
  type: 'email_blocked',
  data: {
    direction: 'outbound',
    messageId: message.id,
    from: message.from,
    to: blocked.recipients,
    subject: message.subject,
    reason: blocked.reason,
    rule: blocked.rule,
  },
});
