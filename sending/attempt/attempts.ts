/** The attempts of a message as they are shown. */
import type { Sql } from '#db/database.ts';
import { ATTEMPTS_SHOWN_MAX, type AttemptOutcome } from '#domain/sending/outbound.ts';

export interface OutboundAttempt {
  /** Host of the relay, or domain. */
  readonly destination: string;
  /** From 1 on, for each destination. */
  readonly number: number;
  readonly transport: 'capture' | 'relay' | 'mx';
  readonly recipients: readonly string[];
  readonly startedAt: Date;
  /** Null while it is in flight, and permanently if the process died during it: then it was repeated. */
  readonly finishedAt: Date | null;
  readonly outcome: AttemptOutcome | null;
  readonly reply: string | null;
}

/** The newest ones, oldest first. */
export const findAttempts = (sql: Sql, messageId: string): Promise<OutboundAttempt[]> =>
  sql.query<OutboundAttempt>(
    `select * from (
       select destination, number, transport, recipients, started_at as "startedAt", finished_at as "finishedAt", outcome,
              reply
         from outbound_attempt where message_id = $1 order by started_at desc, destination, number desc limit $2) a
      order by "startedAt", destination, number`,
    [messageId, ATTEMPTS_SHOWN_MAX],
  );
