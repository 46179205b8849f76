/**
 * Detects a worker that does not work any more although its process runs: a poller has ended, for instance because the
 * namespace is gone, or the worker itself has ended. Such a process takes no task but looks alive; it must end, so that
 * a supervisor starts it again.
 */
import type { Worker, WorkerStatus } from '@temporalio/worker';

const LOOK_EVERY_MS = 500;
/** A worker that is not running for this long is given up. */
export const NOT_RUNNING_MAX_MS = 10_000;

export interface WorkerWatch {
  /** Whether it takes tasks: it and both its pollers run. */
  isRunning(): boolean;
  /** Settles never, or with an error when the worker has not been running for ten seconds. */
  readonly givenUp: Promise<never>;
  close(): void;
}

/** Undefined: it takes tasks. Otherwise its states, in words. */
function whatStands({ runState, workflowPollerState, activityPollerState }: WorkerStatus): string | undefined {
  if (runState === 'RUNNING' && workflowPollerState === 'POLLING' && activityPollerState === 'POLLING')
    return undefined;
  return `worker ${runState}, workflow poller ${workflowPollerState}, activity poller ${activityPollerState}`;
}

/**
 * @param lastError the last error the worker logged, as a reason
 * @param now milliseconds of any clock
 */
export function watchWorker(
  worker: Pick<Worker, 'getStatus'>,
  lastError: () => string | undefined = () => undefined,
  notRunningMaxMs = NOT_RUNNING_MAX_MS,
  now: () => number = () => performance.now(),
): WorkerWatch {
  const givenUp = Promise.withResolvers<never>();
  givenUp.promise.catch(() => {});
  let notRunningSinceMs: number | undefined;
  const look = (): void => {
    const states = whatStands(worker.getStatus());
    if (states === undefined) {
      notRunningSinceMs = undefined;
      return;
    }
    notRunningSinceMs ??= now();
    if (now() - notRunningSinceMs < notRunningMaxMs) return;
    clearInterval(timer);
    const because = lastError();
    givenUp.reject(
      new Error(
        `the Temporal worker has taken no tasks for ${notRunningMaxMs / 1_000} s (${states})${because === undefined ? '' : `: ${because}`}`,
      ),
    );
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    isRunning: () => whatStands(worker.getStatus()) === undefined,
    givenUp: givenUp.promise,
    close: () => clearInterval(timer),
  };
}
