/**
 * A trace goes on in other processes, perhaps days later: its context is kept with the event or the message. Rows are
 * written and read only where tracing is on.
 */
import type { Sql } from '#db/database.ts';
import { findTraceContext, insertTraceContexts } from '#db/queries/events/trace-contexts.ts';
import { beginSpan, currentTraceContext, isTracing } from './trace.ts';

export interface TracedEvent {
  readonly id: string;
  readonly type: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  /** Where it happened; undefined: in what is done at the moment. */
  readonly context: string | undefined;
}

/** Call it in the transaction that records the events: each gets a span, below which its deliveries are attempted. */
export async function keepEventContexts(sql: Sql, events: readonly TracedEvent[]): Promise<void> {
  const rows = events.flatMap(({ id, type, organizationId, mailboxId, context = currentTraceContext() }) => {
    if (context === undefined) return [];
    const span = beginSpan('event.record', {
      kind: 'producer',
      parent: context,
      attributes: {
        'agent_mailbox.event.id': id,
        'agent_mailbox.event.type': type,
        'agent_mailbox.organization.id': organizationId,
        'agent_mailbox.mailbox.id': mailboxId ?? undefined,
      },
    });
    span.end();
    return span.context === undefined ? [] : [{ id, context: span.context }];
  });
  if (rows.length > 0) await insertTraceContexts(sql, rows);
}

/** Keeps the current context for what is done with a message later. Call it in the transaction that stores it. */
export async function keepMessageContext(sql: Sql, messageId: string): Promise<void> {
  const context = currentTraceContext();
  if (context !== undefined) await insertTraceContexts(sql, [{ id: messageId, context }]);
}

/** @returns the context to go on with; undefined: none is kept, or it cannot be read: no work waits for a trace */
export const keptContext = async (sql: Sql, id: string): Promise<string | undefined> =>
  isTracing() ? findTraceContext(sql, id).catch(() => undefined) : undefined;
