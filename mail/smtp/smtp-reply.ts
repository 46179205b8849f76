import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { SpoolError } from '#mailstore/blobs/spool.ts';

/** A refusal as the client reads it: reply code and enhanced status code (RFC 5321 §4.2, RFC 3463). */
export class SmtpReply extends Error {
  /** Read by smtp-server. */
  readonly responseCode: number;

  constructor(responseCode: number, enhancedCode: string, text: string) {
    super(`${enhancedCode} ${text}`);
    this.name = 'SmtpReply';
    this.responseCode = responseCode;
  }
}

export const unavailable = (): SmtpReply => new SmtpReply(451, '4.3.0', 'Temporary internal error, try again later');

/**
 * The answer for errors that the client did not cause. 452 4.3.1 if nothing can be stored (the database is unreachable,
 * full or read-only, the spool is full): the same message may be sent again later, on this connection too.
 */
export const replyToFault = (error: unknown): SmtpReply =>
  error instanceof SpoolError || isInfrastructureError(error)
    ? new SmtpReply(452, '4.3.1', 'The message cannot be stored now, try again later')
    : unavailable();

/** An outage of the database is logged where it is noticed; a line for each message would hide it. */
export const faultLevel = (error: unknown): 'debug' | 'error' => (isInfrastructureError(error) ? 'debug' : 'error');
