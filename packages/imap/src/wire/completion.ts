/**
 * How a command ends: OK, NO or BAD with a response code and a text (RFC 9051 §7.1), and which of these an error becomes.
 *
 *     SyntaxProblem, OutOfRange     the client's mistake       BAD
 *     Refusal, StoreRefused         it cannot be done          NO with the code
 *     StoreUnavailable              not now                    NO [UNAVAILABLE]
 *     BrokenAnswer, ConnectionLost  nothing can be answered    the connection ends
 *     any other error               infrastructure error       NO [SERVERBUG] with an id that the log has too
 */
import { randomBytes } from 'node:crypto';
import { type StoreRefusal, StoreRefused, StoreUnavailable } from '@agent-mailbox/mail-store';
import type { EngineLog } from '@agent-mailbox/mail-store/engine-log';
import { SyntaxProblem } from './parser.ts';
import { ConnectionLost } from './transport.ts';

export interface Completion {
  readonly status: 'OK' | 'NO' | 'BAD';
  /** Response code without brackets. */
  readonly code?: string;
  readonly text: string;
}

const completion =
  (status: Completion['status']) =>
  (text: string, code?: string): Completion => ({ status, text, ...(code === undefined ? {} : { code }) });

export const ok = completion('OK');
export const no = completion('NO');
export const bad = completion('BAD');

/** Tagged NO, thrown if the command cannot continue. */
export class Refusal extends Error {
  readonly code: string | undefined;
  constructor(code: string | undefined, text: string) {
    super(text);
    this.code = code;
  }
}

/** A sequence number beyond the last message: tagged BAD. */
export class OutOfRange extends Error {
  constructor() {
    super('A sequence number is out of range');
  }
}

/** A response failed after part of it was sent. The client could not parse what follows: the connection is closed. */
export class BrokenAnswer extends Error {}

const REFUSAL_CODES: Record<StoreRefusal, string> = {
  'over-quota': 'OVERQUOTA',
  'no-folder': 'NONEXISTENT',
  exists: 'ALREADYEXISTS',
  cannot: 'CANNOT',
  limit: 'LIMIT',
  'too-big': 'TOOBIG',
  gone: 'EXPUNGEISSUED',
  // RFC 5530.
  'no-permission': 'NOPERM',
};

/**
 * An error that nobody expected is logged with the id that the client gets.
 *
 * @throws the error itself, if nothing can be answered any more
 */
export function completionOf(error: unknown, verb: string, log: EngineLog): Completion {
  if (error instanceof SyntaxProblem || error instanceof OutOfRange) return bad(error.message);
  if (error instanceof Refusal) return no(error.message, error.code);
  if (error instanceof StoreRefused) return no(error.message, REFUSAL_CODES[error.refusal]);
  if (error instanceof ConnectionLost || error instanceof BrokenAnswer) throw error;
  if (error instanceof StoreUnavailable) return no('The store cannot be reached now, try again later', 'UNAVAILABLE');
  const requestId = randomBytes(6).toString('hex');
  log.error({ err: error, requestId, verb }, 'imap command failed');
  return no(`Internal error, logged as ${requestId}`, 'SERVERBUG');
}
