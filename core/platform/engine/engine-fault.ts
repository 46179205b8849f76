/** Failures of Temporal: how they differ from errors of the call itself, and how they are logged as one outage. */
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { infrastructureFault } from '#db/infrastructure-error.ts';

const CAUSES_MAX = 5;
/** google.rpc.Code: the request itself is wrong. */
const INVALID_ARGUMENT = 3;
/** An engine that has lost its state refuses every request with a search attribute, until they are made again. */
const SEARCH_ATTRIBUTE_MISSING = /no mapping defined for search attribute|search attribute \S+ is not defined/i;

/**
 * Whether the engine, its state or the connection to it failed, so that the same call may succeed later: it is
 * unreachable, slow or overloaded, or its namespace or search attributes are missing. A workflow that does not exist is
 * not such a failure.
 */
export function isEngineFault(error: unknown): boolean {
  let each = error;
  for (let depth = 0; each instanceof Error && depth < CAUSES_MAX; depth++) {
    if (each instanceof NamespaceNotFoundError) return true;
    if (isGrpcServiceError(each))
      return Number(each.code) !== INVALID_ARGUMENT || SEARCH_ATTRIBUTE_MISSING.test(each.details);
    each = each.cause;
  }
  return error instanceof ServiceError;
}

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
