/** How mail leaves this host. */
import type { MessageNotices, RecipientNotices } from '#domain/webhooks/delivery-notices.ts';

export interface OutgoingMail {
  readonly sender: string;
  readonly recipients: readonly string[];
  /** As transmitted, with the signature on top. */
  readonly bytes: Buffer;
  /** The same without UTF-8 in its header, signed, for a host that does not announce SMTPUTF8; undefined: there is none. */
  readonly asciiHeader?: (() => Promise<Buffer>) | undefined;
  /** Passed on to a host that announces DSN (RFC 3461); the same for every recipient. */
  readonly notices?: (MessageNotices & RecipientNotices) | undefined;
  /**
   * Called after a wait for a slot, and right before the message is transmitted: false if it may not be sent any more.
   */
  readonly mayBegin?: () => boolean | Promise<boolean>;
}

/** Answer of the other host about one recipient. */
export interface RecipientResult {
  readonly address: string;
  /** `deferred`: try again later. `failed`: never. */
  readonly kind: 'sent' | 'captured' | 'deferred' | 'failed';
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  readonly reply: string;
  /** Name of the other host, where it has answered about the message. */
  readonly remoteMta?: string | undefined;
  /** The other host announced DSN: it reports the result. */
  readonly reports?: boolean;
  /** With `deferred`: nothing was tried because of a rate limit; try again after this time. */
  readonly comeBackInMs?: number;
}

export interface Transport {
  readonly via: 'capture' | 'relay' | 'mx';
  /** Name of the destination host for a domain; recipients with the same one share a connection. */
  destinationOf(domain: string): string;
  /** One result per recipient; expected failures are values. */
  send(mail: OutgoingMail): Promise<readonly RecipientResult[]>;
}
