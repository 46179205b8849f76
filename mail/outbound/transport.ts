/** How mail leaves this host. */
import type { MessageNotices, RecipientNotices } from '../../domain/delivery-notices.ts';

export interface OutgoingMail {
  readonly sender: string;
  readonly recipients: readonly string[];
  /** As it goes over the line, with the signature on top. */
  readonly bytes: Buffer;
  /** Passed on to a host that announces DSN (RFC 3461); the same for every recipient. */
  readonly notices?: (MessageNotices & RecipientNotices) | undefined;
}

/** What the other side said about one recipient. */
export interface RecipientResult {
  readonly address: string;
  /** `deferred`: try again later. `failed`: never. */
  readonly kind: 'sent' | 'captured' | 'deferred' | 'failed';
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  readonly reply: string;
  /** The other side announced DSN: what becomes of the mail, it reports. */
  readonly reports?: boolean;
  /** With `deferred`: nothing was tried, as there is too much to do; come back after this time. */
  readonly comeBackInMs?: number;
}

export interface Transport {
  readonly via: 'capture' | 'relay' | 'mx';
  /** Name of the place mail for a domain is handed to; what shares one goes in one connection. */
  destinationOf(domain: string): string;
  /** One result per recipient; expected failures are values. */
  send(mail: OutgoingMail): Promise<readonly RecipientResult[]>;
}
