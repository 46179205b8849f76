import { ENGINE } from '#core/platform/engine/temporal-client.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';

/** Pollers of the SDK report each of their retries from the 16th on, about two lines a second. */
const RETRIED_CALL = /^gRPC call \w+ retried \d+ times/;

/**
 * Logs a line of the Temporal SDK. Retries of its calls are part of an outage of Temporal: one line for all of them.
 */
export function logSdkLine(
  log: Logger,
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error',
  message: string,
  reason: string | undefined,
): void {
  if (RETRIED_CALL.test(message)) outageLog(log, ENGINE).noticed(reason ?? message);
  else log[level]({ temporal: true, reason }, message);
}
