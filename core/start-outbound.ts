/**
 * Starts the workflows of submitted messages: at once after the commit, and by a sweep those that were forgotten (a
 * crash between commit and start, an engine that was away or emptied). Starting one that runs does no harm.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { OUTBOUND_OVERDUE_MS } from '../domain/outbound.ts';
import {
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

async function start(
  temporal: TemporalClient,
  { messageId, organizationId, mailboxId }: OutboundToStart,
): Promise<void> {
  const input: OutboundInput = { messageId };
  await temporal.client.workflow.start(OUTBOUND_MESSAGE, {
    workflowId: outboundWorkflowId(messageId),
    taskQueue: temporal.taskQueue,
    args: [input],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    requestEagerStart: temporal.eager,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchKeys.organizationId, value: organizationId },
      { key: searchKeys.mailboxId, value: mailboxId },
      { key: searchKeys.messageId, value: messageId },
    ]),
    staticSummary: `send ${messageId}`,
  });
}

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

/** Tells waiting workflows that their consents were decided. Call it after the commit; a lost signal costs time only. */
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

/** Looks every five seconds for messages whose workflow is overdue. */
export function startOutboundSweep(services: Services, temporal: TemporalClient): OutboundSweep {
  let closed = false;
  let wake = () => {};

  async function sweep(): Promise<void> {
    const now = services.now();
    const rows = await services.db.query<{ id: string; organization_id: string; mailbox_id: string }>(TAKE_OVERDUE, [
      new Date(now),
      new Date(now + OUTBOUND_OVERDUE_MS),
      SWEEP_ROWS,
    ]);
    for (const { id, organization_id, mailbox_id } of rows)
      if (!closed) await start(temporal, { messageId: id, organizationId: organization_id, mailboxId: mailbox_id });
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
        wake = () => {
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
      wake();
      await running;
    },
  };
}

/** The next look at the same row comes later, so that a dead engine is not asked for each every five seconds. */
const TAKE_OVERDUE = `
  update outbound_message set due_at = $2
   where id in (select id from outbound_message where state in ('held', 'scheduled', 'sending') and due_at < $1
                 order by due_at limit $3 for update skip locked)
  returning id, organization_id, mailbox_id`;
