import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { isInfrastructureError } from '#db/infrastructure-error.ts';

/** The worker shuts down: another one continues. */
export class ShuttingDown extends Error {
  constructor() {
    super('this worker is shutting down; another one goes on');
  }
}

/**
 * Lets an activity fail without a log line if the cause is an outage of a dependency, which has its line already
 * (`core/platform/log/outage-log.ts`). The engine retries as after every failure.
 */
export function quietFaults<Args extends unknown[], Result>(
  activity: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      if (!(error instanceof ShuttingDown) && !isInfrastructureError(error)) throw error;
      throw ApplicationFailure.create({
        message: error instanceof Error ? error.message : String(error),
        category: ApplicationFailureCategory.BENIGN,
        ...(error instanceof Error ? { cause: error } : {}),
      });
    }
  };
}
