/** Runs the dispatcher's statements and reports when the database goes away and comes back. */
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';

/** @throws what the statement throws */
export type ReportedStatement = <Result>(statement: () => Promise<Result>) => Promise<Result>;

export function reportedStatements(log: Logger): ReportedStatement {
  const database = outageLog(log, DATABASE);
  return async (statement) => {
    try {
      const result = await statement();
      database.recovered();
      return result;
    } catch (error) {
      if (isInfrastructureError(error)) database.failed(error);
      else
        log.error(
          { error: error instanceof Error ? error.message : String(error) },
          'a statement of the dispatcher was refused',
        );
      throw error;
    }
  };
}
