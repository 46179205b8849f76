import type { MailboxStatus, SyncStatus, UnauthenticatedMail } from '#domain/organizations/mailboxes.ts';
import type { Brakes, StoppedBy } from '#domain/sending/sending-brakes.ts';
import type { SendingHealth } from '#domain/sending/sending-health.ts';
import type { EnvelopeMailbox } from '#domain/webhooks/event-types.ts';

/** Mail received and sent on this day (UTC). */
export interface UseToday {
  /** Messages that were not held, or were released. */
  readonly sent: number;
  /** Recipients outside that nothing was sent to before. */
  readonly newRecipients: number;
  readonly received: number;
  /** Messages that wait for a person now. */
  readonly held: number;
}
export const NO_USE: UseToday = { sent: 0, newRecipients: 0, received: 0, held: 0 };

/** A mailbox with the counters of its mail: what use cases return and presenters show. */
export interface MailboxView extends EnvelopeMailbox {
  /** Its purpose; shown to the people who decide about its mail. */
  readonly purpose: string | null;
  /** See `domain/organizations/mailboxes.ts`. */
  readonly group: string | null;
  readonly status: MailboxStatus;
  readonly syncStatus: SyncStatus;
  readonly quota: { readonly limitBytes: number; readonly usedBytes: number; readonly messageCount: number };
  /** Messages in INBOX that are not seen. */
  readonly unread: number;
  /** Outgoing messages: held for a person's decision, and scheduled for a later time. */
  readonly waiting: { readonly held: number; readonly scheduled: number };
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether too many of its recipients bounced or complained. */
  readonly sending: SendingHealth;
  /** Set by a person; those of the organization apply too. */
  readonly brakes: Brakes;
  /** Whose stop applies now. */
  readonly stoppedBy: StoppedBy | null;
  readonly today: UseToday;
  readonly unauthenticatedMail: UnauthenticatedMail;
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastActivityAt: Date | null;
}

/** The part of a mailbox in event envelopes. */
export const envelopeMailbox = ({ id, name, address, localPart, domain }: EnvelopeMailbox): EnvelopeMailbox => ({
  id,
  name,
  address,
  localPart,
  domain,
});

/** `data.mailbox` of `mailbox_created` and `mailbox_deleted`: the mailbox at that time. */
export const mailboxSnapshot = (
  mailbox: EnvelopeMailbox &
    Pick<MailboxView, 'status' | 'metadata' | 'createdAt'> & { readonly clientId?: string | null | undefined },
) => ({
  ...envelopeMailbox(mailbox),
  status: mailbox.status,
  metadata: mailbox.metadata,
  clientId: mailbox.clientId ?? null,
  createdAt: mailbox.createdAt.toISOString(),
});
