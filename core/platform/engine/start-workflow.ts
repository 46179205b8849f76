/**
 * Starts and signals of workflows from outside of the engine. Each may be repeated: starting a workflow that runs has no
 * effect. Each has a time limit, because somebody waits for it, and a sweep that repeats what was lost.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { noticeOutage } from './engine-starts.ts';
import { searchKeys, type TemporalClient } from './temporal-client.ts';

/** By what a workflow is found in the engine's UI. Null, and left out: not by this. */
interface SearchValues {
  readonly organizationId?: string | null | undefined;
  readonly endpointId?: string | undefined;
  readonly mailboxId?: string | null | undefined;
  readonly eventType?: string | undefined;
  readonly messageId?: string;
  readonly deliveryIds?: readonly string[];
  readonly eventIds?: readonly string[];
}

const TEXTS = ['organizationId', 'endpointId', 'mailboxId', 'eventType', 'messageId'] as const;
const LISTS = ['deliveryIds', 'eventIds'] as const;

/** Options of a start, or of a signal that starts the workflow where there is none. */
export const startOptions = (temporal: TemporalClient, workflowId: string, summary: string, search: SearchValues) => ({
  workflowId,
  taskQueue: temporal.taskQueue,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  staticSummary: summary,
  typedSearchAttributes: new TypedSearchAttributes([
    ...TEXTS.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' ? [{ key: searchKeys[name], value }] : [];
    }),
    ...LISTS.flatMap((name) => {
      const value = search[name];
      return value === undefined ? [] : [{ key: searchKeys[name], value: [...value] }];
    }),
  ]),
});

/** @throws errors of the engine, also when the time is over */
export const inTime = <Result>(
  { client }: TemporalClient,
  withinMs: number,
  call: () => Promise<Result>,
): Promise<Result> => client.withDeadline(Date.now() + withinMs, call);

/** No caller waits longer for the engine: the row is stored, and the sweep makes the call. */
export const ANSWER_WITHIN_MS = 2_000;

/**
 * Makes a call after the commit. Never throws: an outage has its line in the log, anything else gets the warning.
 *
 * @param ids those of the rows, for the log
 */
export const callAfterCommit = (
  { db, log }: Pick<Services, 'db' | 'log'>,
  temporal: TemporalClient,
  call: () => Promise<unknown>,
  ids: Readonly<Record<string, string>>,
  warning: string,
): Promise<void> =>
  db.afterCommit(async () => {
    try {
      await inTime(temporal, ANSWER_WITHIN_MS, call);
    } catch (error) {
      if (!noticeOutage(log, error)) log.warn({ reason: reasonOf(error), ...ids }, warning);
    }
  });
