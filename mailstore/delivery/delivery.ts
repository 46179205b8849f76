/** Input and result of the write transaction. */
import type { NewEvent } from '#core/events/record-event.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import type { AuthenticationResults } from './authentication-results.ts';
import type { ThreadRefs } from './fingerprints.ts';
import type { ListedHeader } from './listed-header.ts';
import type { Recipient } from './recipients.ts';

/** The origin of a message; `message.origin`. */
export type MessageOrigin = 'smtp' | 'local' | 'submission' | 'append' | 'draft' | 'system';

/** A message as it will be stored, the same for all its recipients. Everything about it is computed before any lock. */
export interface NewMessage {
  /** Empty if the blob is stored already. */
  readonly bytes: Buffer;
  readonly size: number;
  /** SHA-256 of its bytes. */
  readonly blobKey: Buffer;
  /** Its blob is stored already, in a row that nobody deletes meanwhile. Default: no. */
  readonly stored?: boolean;
  readonly read: ReadMessage;
  readonly refs: ThreadRefs;
  readonly listed: ListedHeader;
  readonly origin: MessageOrigin;
  readonly receivedAt: Date;
  readonly auth: AuthenticationResults | null;
}

/** A message that was received as mail. */
export interface IncomingMessage extends NewMessage {
  /** All of them, whatever the size. */
  readonly bytes: Buffer;
  /** Envelope sender, empty for the null sender. */
  readonly envelopeFrom: string;
}

/** One recipient mailbox of a message. */
export interface LocalDelivery {
  readonly recipient: Recipient;
  /** Address as given in RCPT, plus-tag included. */
  readonly deliveredTo: string;
  readonly folderId: number;
  readonly labels: readonly string[];
  /** Hex hash that recognizes a redelivery; undefined if that is not possible. */
  readonly deliveryHash: string | undefined;
  /** Id the message has already; default: a new one. */
  readonly messageId?: string;
  /** Bits of `domain/mail/mail-flags.ts`; default: none. */
  readonly flags?: number;
}

/** A message for all its recipients here: either all of them get it, or none. */
export interface DeliveryWrite {
  readonly message: IncomingMessage;
  /** One per mailbox. */
  readonly deliveries: readonly LocalDelivery[];
  /** Makes the event of one delivery; ids are known only in the transaction. Null: there is none. */
  event(delivery: LocalDelivery, messageId: string, threadId: string): NewEvent | null;
}

export interface Delivered {
  readonly mailboxId: string;
  readonly messageId: string;
  /** Null if nothing was stored. */
  readonly threadId: string | null;
  /** The same message had been delivered before; nothing was stored. */
  readonly duplicate: boolean;
}

/** Expected outcomes are values; everything else throws. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly deliveries: readonly Delivered[] }
  | { readonly kind: 'over-quota'; readonly mailboxId: string }
  /** Suspended or deleted since it was looked up. */
  | { readonly kind: 'mailbox-closed'; readonly mailboxId: string };
