/** Mail that no delivery reports, because it arrived while the endpoint was inactive or missing. */
import type { Fields, TriggerHost } from '../../n8n-interfaces.ts';
import { callService, listAll } from '../../service.ts';
import { pathOf, type Wanted } from './endpoint.ts';

const MISSED_MAX = 1_000;
/** Mail is stored and reported in one transaction; its times differ by less. */
const MARGIN_MS = 60_000;
const DELIVERIES_PAGE = 200;

/**
 * @param since ISO 8601
 * @returns an event for each mail since then that the endpoint has no delivery of, oldest first; `missed` marks them
 */
export async function missedMail(
  host: TriggerHost,
  endpoint: Fields,
  { eventTypes, mailboxId }: Wanted,
  since: string,
): Promise<Fields[]> {
  if (!eventTypes.includes('email_received')) return [];
  const scope = mailboxId === '' ? {} : { mailboxId };
  // First the mail, then the deliveries: mail that arrives now has one already.
  const messages = await listAll(host, '/api/messages', { since, ...scope }, MISSED_MAX);
  const from = new Date(Date.parse(since) - MARGIN_MS).toISOString();
  const reported = await reportedMessages(host, endpoint, from);
  return messages
    .filter(({ id }) => !reported.has(String(id)))
    .toReversed()
    .map(asEvent);
}

async function reportedMessages(host: TriggerHost, endpoint: Fields, since: string): Promise<Set<string>> {
  const found = new Set<string>();
  let cursor: unknown;
  do {
    const query = { eventType: 'email_received', since, limit: DELIVERIES_PAGE };
    const page = cursor === undefined ? query : { ...query, cursor };
    const { body } = await callService(host, 'GET', `${pathOf(endpoint)}/deliveries`, { query: page });
    for (const { payload } of body['data'] as { payload: { data: { messageId?: string } } }[])
      found.add(String(payload.data.messageId));
    cursor = body['nextCursor'] ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** As `email_received` has it, as far as a list of messages says it. */
function asEvent({ id, threadId, mailboxId, from, to, cc, subject, preview, receivedAt, sizeBytes }: Fields): Fields {
  return {
    type: 'email_received',
    occurredAt: receivedAt,
    mailbox: { id: mailboxId },
    data: { messageId: id, threadId, from, to, cc, subject, preview, receivedAt, sizeBytes },
    missed: true,
  };
}
