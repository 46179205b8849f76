import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { mailboxQuery, pagedQuery, useAttempt } from '../../api/queries.ts';

export type OutboxMessage = Schemas['OutboxMessage'];

const PAGE_LENGTH = 50;

/** What waits to leave a mailbox, and what was decided or failed within a day; newest first. */
export const outboxQuery = (id: string) =>
  pagedQuery(['outbox', id], (from) =>
    bodyOf(
      service.GET('/api/mailboxes/{id}/messages/outbox', {
        params: { path: { id }, query: { limit: PAGE_LENGTH, ...from } },
      }),
    ),
  );

/** Takes a message back. What was on its way by then is a conflict; what it is now says why. */
export const useWithdraw = (id: string) =>
  useAttempt(
    (mid: string) => bodyOf(service.DELETE('/api/mailboxes/{id}/outbox/{mid}', { params: { path: { id, mid } } })),
    ['outbox', id],
    mailboxQuery(id).queryKey,
    ['consents'],
  );
