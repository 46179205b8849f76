import { PAYLOAD_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';
import type { EventEnvelope } from '#domain/webhooks/event-types.ts';

/** Steps of shortening: maximum lengths of strings and lists. The last step makes any input fit. */
const STEPS = [
  { characters: 8_192, items: 500 },
  { characters: 1_024, items: 100 },
  { characters: 128, items: 20 },
  { characters: 32, items: 3 },
] as const;

/**
 * The text of an event as it is stored, signed and sent. Above 256 KiB the fields of `data` are shortened one after
 * another and `truncated: true` is added; `messageId` and the message's path in the API give access to the rest.
 *
 * @param reservedBytes that are added to it for some endpoints
 */
export function eventPayload(envelope: EventEnvelope<object>, reservedBytes = 0): string {
  const text = JSON.stringify(envelope);
  const limitBytes = PAYLOAD_LIMIT_BYTES - reservedBytes;
  // A UTF-16 unit takes at most 3 bytes, so most payloads need no count.
  if (text.length * 3 <= limitBytes || Buffer.byteLength(text) <= limitBytes) return text;
  let shortened = text;
  for (const step of STEPS) {
    const data = { ...(shorten(envelope.data, step.characters, step.items) as object), ...whereTheRestIs(envelope) };
    shortened = JSON.stringify({ ...envelope, data });
    if (Buffer.byteLength(shortened) <= limitBytes) break;
  }
  return shortened;
}

function whereTheRestIs(envelope: EventEnvelope<object>): object {
  const messageId = 'messageId' in envelope.data ? envelope.data.messageId : undefined;
  const mailbox = envelope.mailbox === null ? undefined : `/api/mailboxes/${envelope.mailbox.id}`;
  const full = typeof messageId === 'string' && mailbox !== undefined ? `${mailbox}/messages/${messageId}` : mailbox;
  return { truncated: true, ...(full === undefined ? {} : { full }) };
}

function shorten(value: unknown, characters: number, items: number): unknown {
  if (typeof value === 'string')
    return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (Array.isArray(value)) return value.slice(0, items).map((item) => shorten(item, characters, items));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, Math.max(items, 50))
      .map(([key, field]) => [key, shorten(field, characters, items)]),
  );
}
