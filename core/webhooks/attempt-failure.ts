/** Which outcome of an attempt an error is. */
import type { AttemptError } from '#domain/delivery-status.ts';

export class DeadlineError extends Error {
  constructor() {
    super('no answer within the time limit');
    this.name = 'DeadlineError';
  }
}

/** The address that was connected to is not a public one. */
export class UnsafeSocketError extends Error {}

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
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  const message = first instanceof Error ? first.message.slice(0, 300) : 'unknown';
  return { error: errorOfCode(code), message: code === '' ? message : `${code}: ${message}` };
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
