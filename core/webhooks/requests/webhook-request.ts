import type { WebhookSigner } from '#core/webhooks/signing/webhook-signature.ts';
import { DELIVERY_USER_AGENT, EVENT_HEADER } from '#domain/webhooks/delivery-limits.ts';

export interface WebhookRequest {
  /** The `webhook-id`: same for every attempt of a delivery. */
  readonly deliveryId: string;
  readonly url: string;
  readonly eventType: string;
  /** Exact text of the body. */
  readonly payload: string;
  /** Null: the request is a chat message, not a delivery, and has no webhook headers. */
  readonly signer: WebhookSigner | null;
  readonly authHeader: { readonly name: string; readonly value: string } | undefined;
}

/** Names and values in turn, so that names keep their spelling. */
export function requestHeaders(request: WebhookRequest, timestamp: Date): string[] {
  const headers = ['Content-Type', 'application/json', 'User-Agent', DELIVERY_USER_AGENT];
  if (request.signer !== null)
    headers.push(
      'webhook-id',
      request.deliveryId,
      'webhook-timestamp',
      String(Math.floor(timestamp.getTime() / 1000)),
      'webhook-signature',
      request.signer.sign(request.deliveryId, timestamp, request.payload),
      EVENT_HEADER,
      request.eventType,
    );
  if (request.authHeader !== undefined) headers.push(request.authHeader.name, request.authHeader.value);
  return headers;
}

/** The same by name, in lower case. */
export const namedHeaders = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, i) => [(pairs[2 * i] ?? '').toLowerCase(), pairs[2 * i + 1] ?? '']),
  );
