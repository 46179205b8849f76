import { isDatabaseAway } from '../db/database-away.ts';
import { CatalogueError, type ErrorCode, type ErrorDetail } from '../domain/errors.ts';

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

/** Clients are asked to come back after this when a part of the service is away. */
const RETRY_WHEN_AWAY_SECONDS = 5;

/** Any thrown value as a catalogue error: what is not one is a fault of ours, and told as nothing more. */
export function asCatalogueError(error: unknown): CatalogueError {
  if (error instanceof CatalogueError) return error;
  if (isDatabaseAway(error))
    return new CatalogueError('unavailable', 'The database is not reachable at the moment.', {
      retryAfterSeconds: RETRY_WHEN_AWAY_SECONDS,
    });
  return new CatalogueError('internal_error');
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
