import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { infrastructureFault } from '#db/infrastructure-error.ts';
import { isEngineFault } from './engine-fault.ts';

/**
 * Logs an error that PostgreSQL or Temporal is to blame for as part of their outage: one line for all of them.
 *
 * @returns whether it was one; anything else is for the caller to log
 */
export function noticeOutage(log: Logger, error: unknown): boolean {
  const dependency = isEngineFault(error)
    ? 'Temporal'
    : infrastructureFault(error) === undefined || infrastructureFault(error) === 'conflict'
      ? undefined
      : 'PostgreSQL';
  if (dependency === undefined) return false;
  outageLog(log, dependency).noticed(error);
  return true;
}
