import type { ClientId } from '#core/platform/client-id.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import type { PreparedMessage } from '#sending/compose/prepare-message.ts';
import type { NoticesAsked } from '#sending/local-delivery/notify-sender.ts';
import type { Answered } from '#sending/outbox/own-mail.ts';

/** A message that a mailbox wants to send, and how. */
export interface Submission {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly prepared: PreparedMessage;
  /** Envelope recipients, each once. */
  readonly recipients: readonly string[];
  readonly via: 'api' | 'smtp';
  readonly actor: Actor;
  /** Keywords of the copy in Sent. */
  readonly labels: readonly string[];
  /** The caller's own id: a second submission of the same content answers the first one. */
  readonly clientId: ClientId | null;
  /** Not before this time; null: at once. */
  readonly sendAt?: Date | null;
  /** The message in Drafts that is sent, if the caller knows it; others are found by their Message-ID. */
  readonly draftMessageId?: string | null;
  /** The message it answers or forwards, if In-Reply-To does not say it. */
  readonly answers?: Answered | null;
  /** Default: notices of failures and delays, with the header. */
  readonly notices?: NoticesAsked | undefined;
}
