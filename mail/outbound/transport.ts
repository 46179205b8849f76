/** How mail leaves this host. */

export interface OutgoingMail {
  readonly sender: string;
  readonly recipients: readonly string[];
  /** As it goes over the line, with the signature on top. */
  readonly bytes: Buffer;
}

/** What the other side said about one recipient. */
export interface RecipientResult {
  readonly address: string;
  /** `deferred`: try again later. `failed`: never. */
  readonly kind: 'sent' | 'captured' | 'deferred' | 'failed';
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  readonly reply: string;
}

export interface Transport {
  readonly via: 'capture' | 'relay' | 'mx';
  /** Name of the place mail for a domain is handed to; what shares one goes in one connection. */
  destinationOf(domain: string): string;
  /** One result per recipient; expected failures are values. */
  send(mail: OutgoingMail): Promise<readonly RecipientResult[]>;
}
