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

export const unavailable = (): SmtpReply =>
  new SmtpReply(451, '4.3.0', 'Temporary trouble on our side, try again later');
