/** Which outcome of an attempt an error is. */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { tlsFailureOf } from '#domain/sending/tls-failure.ts';
import { FAILURE_REASON_MAX_CHARACTERS } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptError } from '#domain/webhooks/delivery-status.ts';

export class DeadlineError extends Error {
  constructor() {
    super('no answer within the time limit');
    this.name = 'DeadlineError';
  }
}

/** The address that was connected to is not a public one. */
export class UnsafeSocketError extends Error {}

/** The other side ended the connection before its address could be asked for. */
export class BrokenSocketError extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('the connection broke at once');
    this.name = 'BrokenSocketError';
  }
}

const CONNECT_CODES = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENETDOWN',
  'EHOSTDOWN',
  'EACCES',
  'EPERM',
]);
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ERR_OSSL)/;

export function failureOf(error: unknown): { error: AttemptError; message: string } {
  if (error instanceof DeadlineError) return { error: 'timeout', message: error.message };
  if (error instanceof UnsafeSocketError) return { error: 'unsafe_destination', message: error.message };
  const ofAddresses = addressErrors(error);
  const first = ofAddresses?.errors[0] ?? error;
  const code = codeOf(first);
  const message = ofAddresses === undefined ? ownMessage(error) : reasonOf(ofAddresses);
  const reason = tlsFailureOf(first) ?? (code === '' ? message : `${code}: ${message}`);
  return {
    // Of several addresses the outer error says what they have in common, whatever their order.
    error: errorOfCode(codeOf(error) || code),
    message: reason.slice(0, FAILURE_REASON_MAX_CHARACTERS),
  };
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
const ownMessage = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

/** One error for each address; undici keeps them as the cause of a time limit that was not reached. */
function addressErrors(error: unknown): AggregateError | undefined {
  if (error instanceof AggregateError) return error;
  return error instanceof Error && error.cause instanceof AggregateError ? error.cause : undefined;
}

function errorOfCode(code: string): AttemptError {
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return 'timeout';
  if (code === 'ECONNREFUSED') return 'connect_refused';
  if (CONNECT_CODES.has(code)) return 'connect_failed';
  if (TLS_CODE.test(code)) return 'tls_failed';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'response_too_large';
  if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return 'aborted';
  return 'reset'; // ECONNRESET, EPIPE, UND_ERR_SOCKET, HPE_…: the connection broke or spoke no HTTP
}
