/** The outcome of one try for a client. */
export type TryOutcome =
  | { readonly kind: 'accepted'; readonly tokenMissing?: boolean }
  /** The server answered "try again". */
  | { readonly kind: 'deferred'; readonly by: string; readonly afterMs?: number | undefined }
  /** No answer: it is unknown whether it was accepted. */
  | { readonly kind: 'uncertain' }
  /** There was no connection: certainly not accepted. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly by: string };

/** Codes of errors that come before anything was sent. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

/** Of a connection that failed. */
export function failedTry(error: unknown): TryOutcome {
  const codes = [error, error instanceof Error ? error.cause : undefined].map((each) =>
    each instanceof Error && 'code' in each ? String(each.code) : '',
  );
  const refusedByName = error instanceof Error && /ECONNREFUSED/.test(error.message);
  return { kind: refusedByName || codes.some((code) => NO_CONNECTION.has(code)) ? 'unreachable' : 'uncertain' };
}
