/** How a command that failed is answered. */
import { randomBytes } from 'node:crypto';
import { type StoreRefusal, StoreRefused, StoreUnavailable } from '@agent-mailbox/mail-store';
import type { EngineLog } from '@agent-mailbox/mail-store/engine-log';
import { bad, type Completion, no, Refusal } from '#imap/command.ts';
import { OutOfRange } from '#imap/session/selected-folder.ts';
import { BrokenAnswer } from './broken-answer.ts';
import { SyntaxProblem } from './parser.ts';
import { ConnectionLost } from './transport.ts';

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
