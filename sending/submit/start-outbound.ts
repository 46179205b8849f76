/**
 * Starts the workflows of unfinished messages: at once after the commit, and by a sweep for those without a workflow
 * (a crash between commit and start, an engine that was unreachable or emptied). Starting a running one has no effect.
 */

import { WorkflowNotFoundError } from '@temporalio/client';
import { semaphore } from '#core/platform/batching/semaphore.ts';
import type { Caller } from '#core/platform/caller.ts';
import { isEngineFault, noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { ANSWER_WITHIN_MS, inTime, startOptions } from '#core/platform/engine/start-workflow.ts';
import { ENGINE, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import { inSpan } from '#core/platform/tracing/trace.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { DECIDED_PORTIONS_MAX } from '#domain/sending/consent.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS, OUTBOUND_SWEEP_AGAIN_MS } from '#domain/sending/outbound.ts';
import {
  CANCEL_SIGNAL,
  DECIDE_SIGNAL,
  OUTBOUND_MESSAGE,
  type OutboundInput,
  outboundWorkflowId,
} from '#domain/sending/outbound-workflow.ts';
import { approveCovered } from '#sending/consent/decide-consent.ts';
import { approvalsToContinue } from '#sending/consent/find-consents.ts';

interface OutboundToStart {
  readonly messageId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
}

const optionsOf = (temporal: TemporalClient, { messageId, organizationId, mailboxId }: OutboundToStart) => ({
  ...startOptions(temporal, outboundWorkflowId(messageId), `send ${messageId}`, {
    organizationId,
    mailboxId,
    messageId,
  }),
  args: [{ messageId }] as [OutboundInput],
});

const start = (temporal: TemporalClient, message: OutboundToStart): Promise<unknown> =>
  temporal.client.workflow.start(OUTBOUND_MESSAGE, {
    ...optionsOf(temporal, message),
    requestEagerStart: temporal.eager,
  });

/** Makes a workflow read its rows; starts it if necessary. */
const wake = (temporal: TemporalClient, message: OutboundToStart, signal: string): Promise<unknown> =>
  temporal.client.workflow.signalWithStart(OUTBOUND_MESSAGE, { ...optionsOf(temporal, message), signal });

/** What a start or signal needs beside the engine. */
type StartServices = Pick<Services, 'log' | 'db' | 'now'>;

/** Call it after the commit that submitted the message. Never throws: what fails here the sweep does at its next look. */
export async function startOutbound(
  { log, ...services }: StartServices,
  temporal: TemporalClient,
  message: OutboundToStart,
): Promise<void> {
  const started = inSpan(
    'workflow.start',
    { kind: 'producer', attributes: { 'temporal.workflow.id': outboundWorkflowId(message.messageId) } },
    () => inTime(temporal, ANSWER_WITHIN_MS, () => start(temporal, message)),
  );
  await started.catch(async (error: unknown) => {
    await leaveToSweep(services, [message.messageId]);
    if (!noticeOutage(log, error))
      log.warn(
        { reason: reasonOf(error), messageId: message.messageId },
        'sending could not be started; the sweep will start it',
      );
  });
}

/** Of this process, for all decisions together. */
const SIGNALS_AT_ONCE = 16;
const signals = semaphore(SIGNALS_AT_ONCE);

/**
 * Makes waiting workflows look again: their consents were decided, or a stop ended. Call it after the commit; where the
 * engine did not take the signal the sweep gives another at its next look.
 */
export async function signalDecided(
  { log, ...services }: StartServices,
  temporal: TemporalClient,
  messageIds: readonly string[],
): Promise<void> {
  const lost: string[] = [];
  let isAway = false;
  await Promise.all(
    messageIds.map(async (messageId) => {
      const release = await signals.take();
      try {
        // Each would wait as long as the first.
        if (isAway) return void lost.push(messageId);
        const handle = temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
        await inTime(temporal, ANSWER_WITHIN_MS, () => handle.signal(DECIDE_SIGNAL));
      } catch (error) {
        lost.push(messageId);
        isAway ||= isEngineFault(error);
        if (!(error instanceof WorkflowNotFoundError) && !noticeOutage(log, error))
          log.warn({ reason: reasonOf(error), messageId }, 'a workflow was not signalled; the sweep will signal it');
      } finally {
        release();
      }
    }),
  );
  if (lost.length > 0) await leaveToSweep(services, lost);
}

/**
 * Decides what an approval covers beyond its own transaction, portion by portion, and wakes each portion. Call it after
 * the commit of the approval. What it leaves, the sweep does.
 */
export async function continueApproval(
  services: StartServices & Pick<Services, 'deliveriesDue'>,
  temporal: TemporalClient,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
  caller?: Caller,
): Promise<void> {
  for (let portion = 0; portion < DECIDED_PORTIONS_MAX; portion++) {
    const { messageIds, more } = await approveCovered(services, organizationId, id, caller);
    await signalDecided(services, temporal, messageIds);
    if (!more) return;
  }
}

/** Makes messages due now, so that nobody waits for the time the engine was given. Where this fails they are due later. */
const leaveToSweep = ({ db, now }: Pick<Services, 'db' | 'now'>, messageIds: readonly string[]): Promise<unknown> =>
  db.query(DUE_NOW, [messageIds, new Date(now())]).catch(() => {});

const DUE_NOW = `
  update outbound_message set due_at = $2
   where id = any($1::text[]) and state in ('held', 'scheduled', 'sending') and due_at > $2`;

/**
 * Lets the sweep start the workflow of every unfinished message, also of those that wait for a person or a time: after a
 * restore, and with a namespace made anew, no timer of Temporal waits for them. A workflow that still runs goes on.
 */
export const startAllOutboundAgain = (sql: Sql, now: Date): Promise<unknown> =>
  sql.query(`update outbound_message set due_at = $1 where state in ('held', 'scheduled', 'sending') and due_at > $1`, [
    now,
  ]);

export interface OutboundSweep {
  close(): Promise<void>;
}

const SWEEP_MS = 5_000;
const SWEEP_ROWS = 200;
const APPROVALS_CONTINUED = 5;

/**
 * Checks every five seconds for approvals that still cover undecided requests, and for messages whose workflow is overdue. A waiting one is signalled: a held message may have
 * been decided, a mailbox deleted.
 */
export function startOutboundSweep(services: Services, temporal: TemporalClient): OutboundSweep {
  const { log } = services;
  const database = outageLog(log, DATABASE);
  const engine = outageLog(log, ENGINE);
  let closed = false;
  let stopWaiting = () => {};
  /** The engine accepts no starts, so only one is tried. */
  let engineAway = false;

  /** @throws errors that the engine caused */
  async function startAgain({ id, organization_id, mailbox_id, held, deleted }: OverdueRow): Promise<void> {
    const message = { messageId: id, organizationId: organization_id, mailboxId: mailbox_id };
    try {
      await inTime(temporal, ANSWER_WITHIN_MS, () => {
        if (held) return wake(temporal, message, DECIDE_SIGNAL);
        return deleted ? wake(temporal, message, CANCEL_SIGNAL) : start(temporal, message);
      });
    } catch (error) {
      if (isEngineFault(error)) throw error;
      log.warn({ reason: reasonOf(error), messageId: id }, 'sending could not be started; trying again');
      return;
    }
    engineAway = false;
    engine.recovered();
  }

  /** @returns whether there may be more to start at once */
  async function sweep(): Promise<boolean> {
    const now = services.now();
    const overdue = new Date(now - OUTBOUND_DECIDED_OVERDUE_MS);
    for (const approval of await approvalsToContinue(services.db, overdue, APPROVALS_CONTINUED))
      await continueApproval(services, temporal, approval);
    const limit = engineAway ? 1 : SWEEP_ROWS;
    const again = new Date(now + OUTBOUND_SWEEP_AGAIN_MS);
    const rows = await services.db.query<OverdueRow>(TAKE_OVERDUE, [new Date(now), again, limit]);
    database.recovered();
    let begun = 0;
    try {
      for (const row of rows) {
        if (closed) break;
        await startAgain(row);
        begun++;
      }
    } finally {
      const left = rows.slice(begun).map(({ id }) => id);
      // A message that was not started is due at once: the next round, or another process, starts it.
      if (left.length > 0) await services.db.query(GIVE_BACK, [left, again, new Date(now)]);
    }
    return rows.length === limit;
  }

  function report(error: unknown): void {
    if (isInfrastructureError(error)) return database.failed(error);
    if (!isEngineFault(error))
      return log.warn({ error: String(error) }, 'the sweep for messages to send failed; trying again');
    engineAway = true;
    return engine.failed(error);
  }

  async function loop(): Promise<void> {
    while (!closed) {
      try {
        if (await sweep()) continue;
      } catch (error) {
        report(error);
      }
      if (closed) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, SWEEP_MS);
        stopWaiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  const running = loop();
  return {
    async close() {
      closed = true;
      stopWaiting();
      await running;
    },
  };
}

interface OverdueRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  /** It waits for consent, for its time, or for the end of a stop. */
  held: boolean;
  /** Its mailbox. */
  deleted: boolean;
}

/** The same row is checked again later: its workflow may already be running. */
const TAKE_OVERDUE = `
  update outbound_message o set due_at = $2 from mailboxes m
   where m.id = o.mailbox_id
     and o.id in (select id from outbound_message where state in ('held', 'scheduled', 'sending') and due_at < $1
                   order by due_at limit $3 for update skip locked)
  returning o.id, o.organization_id, o.mailbox_id, o.state <> 'sending' or o.stopped_at is not null as held, m.deleted_at is not null as deleted`;

/** Unless another process has set their due time meanwhile. */
const GIVE_BACK = `update outbound_message set due_at = $3 where id = any($1::text[]) and due_at = $2`;
