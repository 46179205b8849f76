import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { isEngineFault } from '#core/platform/engine/engine-fault.ts';
import { type InfrastructureFault, infrastructureFault } from '#db/infrastructure-error.ts';
import { CatalogueError, type ErrorCode, type ErrorDetail } from '#domain/errors.ts';

/** Body of every error answer. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly fix: string;
    readonly docs: string;
    readonly requestId: string;
    readonly details: readonly ErrorDetail[];
  };
}

/** The answers during database failures, with the seconds for Retry-After. */
const UNAVAILABLE: Readonly<Record<InfrastructureFault, { message: string; fix?: string; retryAfterSeconds: number }>> =
  {
    unreachable: { message: 'The database is not reachable at the moment.', retryAfterSeconds: 5 },
    connection_lost: {
      message: 'The connection to the database was lost. The request may have been carried out or not.',
      fix: 'Wait for the number of seconds in Retry-After, then send it again. Give a POST the same Idempotency-Key, so that it takes effect only once. If a POST had no key, first check whether it took effect.',
      retryAfterSeconds: 5,
    },
    out_of_resources: {
      message: 'The database is out of disk space, memory or another resource of its server.',
      fix: 'Wait for the number of seconds in Retry-After, then send the request again. The operator of this service must free storage.',
      retryAfterSeconds: 30,
    },
    read_only: {
      message: 'The database accepts no changes at the moment: it is read-only.',
      retryAfterSeconds: 30,
    },
    conflict: {
      message: 'Other requests changed or locked the same data for too long.',
      retryAfterSeconds: 1,
    },
  };

/** Any thrown value as a catalogue error: others are internal errors, whose details are not revealed. */
export function asCatalogueError(error: unknown): CatalogueError {
  if (error instanceof CatalogueError) return error;
  if (error instanceof StoreUnavailable)
    return new CatalogueError('unavailable', 'The mail store does not take mail at the moment.', {
      retryAfterSeconds: 5,
    });
  const fault = infrastructureFault(error);
  if (fault === undefined)
    return isEngineFault(error)
      ? new CatalogueError('unavailable', 'Temporal, which runs the workflows, does not take requests at the moment.', {
          retryAfterSeconds: 5,
        })
      : new CatalogueError('internal_error');
  const { message, ...options } = UNAVAILABLE[fault];
  return new CatalogueError('unavailable', message, options);
}

export const errorBody = (error: CatalogueError, requestId: string, publicUrl: string): ErrorBody => ({
  error: {
    code: error.code,
    message: error.message,
    fix: error.fix,
    docs: `${publicUrl}/docs/errors#${error.code}`,
    requestId,
    details: error.details,
  },
});
