/**
 * Starts the workflows of submitted messages: at once after the commit, and by a sweep those that were forgotten (a
 * crash between commit and start, an engine that was away or emptied). Starting one that runs does no harm.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { OUTBOUND_SWEEP_AGAIN_MS } from '../domain/outbound.ts';
import {
  CANCEL_SIGNAL,
  DECIDE_SIGNAL,
  OUTBOUND_MESSAGE,
  type OutboundInput,
  outboundWorkflowId,
} from '../domain/outbound-workflow.ts';
import type { Services } from './services.ts';
import { searchKeys, type TemporalClient } from './temporal-client.ts';

export interface OutboundToStart {
  readonly messageId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
}

/** Whoever submitted does not wait longer for the engine: the message is safe, and the sweep starts it. */
const ANSWER_WITHIN_MS = 2_000;

const optionsOf = (temporal: TemporalClient, { messageId, organizationId, mailboxId }: OutboundToStart) => ({
  workflowId: outboundWorkflowId(messageId),
  taskQueue: temporal.taskQueue,
  args: [{ messageId }] as [OutboundInput],
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  typedSearchAttributes: new TypedSearchAttributes([
    { key: searchKeys.organizationId, value: organizationId },
    { key: searchKeys.mailboxId, value: mailboxId },
    { key: searchKeys.messageId, value: messageId },
  ]),
  staticSummary: `send ${messageId}`,
});

const start = (temporal: TemporalClient, message: OutboundToStart): Promise<unknown> =>
  temporal.client.workflow.start(OUTBOUND_MESSAGE, {
    ...optionsOf(temporal, message),
    requestEagerStart: temporal.eager,
  });

/** Makes a workflow look at its rows, whether it waits or is to be started. */
const wake = (temporal: TemporalClient, message: OutboundToStart, signal: string): Promise<unknown> =>
  temporal.client.workflow.signalWithStart(OUTBOUND_MESSAGE, { ...optionsOf(temporal, message), signal });

/** Call it after the commit that submitted the message. Never throws: what fails here the sweep does. */
export async function startOutbound(
  { log }: Pick<Services, 'log'>,
  temporal: TemporalClient,
  message: OutboundToStart,
): Promise<void> {
  const started = temporal.client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => start(temporal, message));
  await started.catch((error: Error) =>
    log.warn({ error: error.message, messageId: message.messageId }, 'sending could not be started; the sweep will'),
  );
}

/** Tells waiting workflows that their consents were decided. Call it after the commit; for a lost signal the sweep gives another. */
export async function signalDecided(
  { log }: Pick<Services, 'log'>,
  temporal: TemporalClient,
  messageIds: readonly string[],
): Promise<void> {
  await Promise.all(
    messageIds.map(async (messageId) => {
      try {
        const handle = temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
        await temporal.client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => handle.signal(DECIDE_SIGNAL));
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError))
          log.warn({ error: String(error), messageId }, 'a decision was not signalled; the sweep will');
      }
    }),
  );
}

export interface OutboundSweep {
  close(): Promise<void>;
}

const SWEEP_MS = 5_000;
const SWEEP_ROWS = 200;

/**
 * Looks every five seconds for messages whose workflow is overdue. One that waits is woken: a held message may have been
 * decided, a mailbox deleted.
 */
export function startOutboundSweep(services: Services, temporal: TemporalClient): OutboundSweep {
  let closed = false;
  let stopWaiting = () => {};

  async function sweep(): Promise<void> {
    const now = services.now();
    const rows = await services.db.query<OverdueRow>(TAKE_OVERDUE, [
      new Date(now),
      new Date(now + OUTBOUND_SWEEP_AGAIN_MS),
      SWEEP_ROWS,
    ]);
    for (const { id, organization_id, mailbox_id, held, deleted } of rows) {
      if (closed) return;
      const message = { messageId: id, organizationId: organization_id, mailboxId: mailbox_id };
      if (held) await wake(temporal, message, DECIDE_SIGNAL);
      else if (deleted) await wake(temporal, message, CANCEL_SIGNAL);
      else await start(temporal, message);
    }
  }

  async function loop(): Promise<void> {
    while (!closed) {
      try {
        await sweep();
      } catch (error) {
        services.log.warn({ error: String(error) }, 'the sweep for messages to send failed; trying again');
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
  /** It waits for consent, or for its time. */
  held: boolean;
  /** Its mailbox. */
  deleted: boolean;
}

/** The next look at the same row comes later, so that a dead engine is not asked for each every five seconds. */
const TAKE_OVERDUE = `
  update outbound_message o set due_at = $2 from mailboxes m
   where m.id = o.mailbox_id
     and o.id in (select id from outbound_message where state in ('held', 'scheduled', 'sending') and due_at < $1
                   order by due_at limit $3 for update skip locked)
  returning o.id, o.organization_id, o.mailbox_id, o.state <> 'sending' as held, m.deleted_at is not null as deleted`;
