import type { EnvelopeMailbox } from '../domain/event-envelope.ts';
import type { MailboxStatus, SyncStatus, UnauthenticatedMail } from '../domain/mailbox-status.ts';
import type { SendingHealth } from '../domain/sending-health.ts';

/** A mailbox with the counters of its mail: what use cases return and presenters show. */
export interface MailboxView extends EnvelopeMailbox {
  readonly status: MailboxStatus;
  readonly syncStatus: SyncStatus;
  readonly quota: { readonly limitBytes: number; readonly usedBytes: number; readonly messageCount: number };
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether too many of its recipients bounced or complained. */
  readonly sending: SendingHealth;
  readonly unauthenticatedMail: UnauthenticatedMail;
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastActivityAt: Date | null;
}

/** The part of a mailbox that stands in event envelopes. */
export const envelopeMailbox = ({ id, name, address, localPart, domain }: EnvelopeMailbox): EnvelopeMailbox => ({
  id,
  name,
  address,
  localPart,
  domain,
});

/** `data.mailbox` of `mailbox_created` and `mailbox_deleted`: the mailbox as it was then. */
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
