/** Events of outgoing mail. */
import type { NewEvent } from '#core/events/record-event.ts';
import { isHardBounce } from '#domain/sending/outbound.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
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
  | 'carries_other_mail'
  | 'carries_credential'
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

/** The last result for a recipient. */
export interface RecipientEnd {
  readonly address: string;
  /** RFC 3463. */
  readonly code: string;
  /** Of the other host, or of this service. */
  readonly reply: string;
  readonly remoteMta?: string | undefined;
}

/** How a failure became known: as the answer to an attempt, or by a report after the other host had accepted the message. */
type BounceSource = 'attempt' | 'report';

/** Nothing is made where nobody subscribed. */
const isWanted = ({ wantsResults }: Sender, recipients: readonly unknown[]): boolean =>
  wantsResults && recipients.length > 0;

const aboutResult = (sender: Sender, message: Facts, threadId: string | null, occurredAt: Date) => ({
  event: { ...about(sender, message, occurredAt), actor: SYSTEM_ACTOR },
  data: { messageId: message.id, threadId, from: message.from, subject: message.subject },
});

const presentEnd = ({ address, code, reply, remoteMta }: RecipientEnd) => ({
  address,
  code,
  reply,
  remoteHost: remoteMta ?? null,
});

/** @returns no event if there is nobody, or no subscriber */
export function deliveredEvents(
  sender: Sender,
  message: Facts,
  threadId: string | null,
  delivered: readonly RecipientEnd[],
  via: Exclude<SentVia, 'capture'>,
  occurredAt: Date,
): NewEvent[] {
  if (!isWanted(sender, delivered)) return [];
  const { event, data } = aboutResult(sender, message, threadId, occurredAt);
  const recipients = delivered.map(presentEnd);
  return [
    { ...event, type: 'email_delivered', data: { ...data, recipients, via, deliveredAt: occurredAt.toISOString() } },
  ];
}

/** @returns no event if there is nobody, or no subscriber */
export function bouncedEvents(
  sender: Sender,
  message: Facts,
  threadId: string | null,
  failed: readonly RecipientEnd[],
  source: BounceSource,
  occurredAt: Date,
): NewEvent[] {
  if (!isWanted(sender, failed)) return [];
  const { event, data } = aboutResult(sender, message, threadId, occurredAt);
  const recipients = failed.map((end) => ({ ...presentEnd(end), bounce: isHardBounce(end.code) ? 'hard' : 'soft' }));
  return [
    { ...event, type: 'email_bounced', data: { ...data, recipients, source, bouncedAt: occurredAt.toISOString() } },
  ];
}

/** @param feedbackType of the report (RFC 5965 §3.1) @returns no event if there is nobody, or no subscriber */
export function complainedEvents(
  sender: Sender,
  message: Facts,
  threadId: string | null,
  addresses: readonly string[],
  feedbackType: string,
  occurredAt: Date,
): NewEvent[] {
  if (!isWanted(sender, addresses)) return [];
  const { event, data } = aboutResult(sender, message, threadId, occurredAt);
  const complainedAt = occurredAt.toISOString();
  return [{ ...event, type: 'email_complained', data: { ...data, recipients: addresses, feedbackType, complainedAt } }];
}
