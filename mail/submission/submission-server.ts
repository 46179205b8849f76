/**
 * The server of the submission listeners: adds what smtp-server lacks. Logins by bearer token (see
 * `docs/adr/0004-bearer-logins-at-submission.md`), and the whole grammar of parameters for delivery notices.
 */
import type net from 'node:net';
import type tls from 'node:tls';
import { BEARER_FAILURE, readOauthbearer, readXoauth2, type SaslCredentials } from '@agent-mailbox/mail-store/sasl';
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { KnownParameters } from '#mail/smtp/address-command.ts';
import { InboundConnection, InboundServer } from '#mail/smtp/inbound-server.ts';
import { dsnFault } from './dsn-parameters.ts';

/** Mechanisms whose secret is a bearer token. smtp-server supports only the second, and reports its failure at once. */
const BEARER_MECHANISMS: ReadonlyMap<string, (answer: string) => SaslCredentials | undefined> = new Map([
  ['OAUTHBEARER', readOauthbearer],
  ['XOAUTH2', readXoauth2],
]);

/** As EHLO announces them. */
export const SUBMISSION_MECHANISMS = ['PLAIN', 'LOGIN', ...[...BEARER_MECHANISMS.keys()].toReversed()];

const CREDENTIALS_REFUSED = 535;

class SubmissionConnection extends InboundConnection {
  /** AUTH (RFC 4954) with `OAUTHBEARER` (RFC 7628) and `XOAUTH2`; the rest, and every refusal before, is the package's. */
  override handler_AUTH(command: Buffer, callback: () => void): void {
    const [, mechanism = '', ...answers] = command.toString().trim().split(/\s+/);
    const read = BEARER_MECHANISMS.get(mechanism.toUpperCase());
    if (read === undefined || !this.secure || this.session.user) return super.handler_AUTH(command, callback);
    const [initial] = answers;
    if (answers.length > 1) this.send(501, '5.5.4 AUTH takes a mechanism and at most one initial response');
    else if (initial !== undefined) return this.#logIn(read(initial), callback);
    else {
      this.send(334);
      this._nextHandler = (line, next) => {
        const answer = line.toString().trim();
        if (answer !== '*') return this.#logIn(read(answer), next);
        this.send(501, '5.7.0 AUTH cancelled');
        next();
      };
    }
    callback();
  }

  /** With those of AUTH (RFC 4954 §5) and of delivery notices (RFC 3461 §4). */
  protected override knownParameters(): KnownParameters {
    const { MAIL, RCPT } = super.knownParameters();
    if (MAIL.length === 0) return { MAIL, RCPT };
    return { MAIL: [...MAIL, 'AUTH', 'RET', 'ENVID'], RCPT: [...RCPT, 'NOTIFY', 'ORCPT'] };
  }

  override handler_MAIL(command: Buffer, callback: () => void): void {
    if (!this.#refuse(command, callback)) super.handler_MAIL(command, callback);
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    if (!this.#refuse(command, callback)) super.handler_RCPT(command, callback);
  }

  /** Whether the line has invalid parameters for delivery notices. */
  #refuse(command: Buffer, callback: () => void): boolean {
    const fault = dsnFault(command.toString());
    if (fault === undefined) return false;
    this.send(501, `5.5.4 ${fault}`);
    callback();
    return true;
  }

  #logIn(credentials: SaslCredentials | undefined, callback: () => void): void {
    if (credentials === undefined) {
      this.send(501, '5.5.2 The credentials cannot be read');
      return callback();
    }
    const { address: username, token: accessToken } = credentials;
    const attempt = { method: 'XOAUTH2', username, accessToken, validatePassword: () => false } as const;
    this._server.onAuth(attempt, this.session, (error, response) => {
      if (response?.user !== undefined) {
        this.session.user = response.user;
        this.session.transmissionType = this._transmissionType();
        this.send(235, 'Authentication successful');
        return callback();
      }
      const code = Number(Reflect.get(Object(error), 'responseCode') ?? CREDENTIALS_REFUSED);
      const refuse = () => this.send(code, error?.message);
      if (code === CREDENTIALS_REFUSED) {
        // The reason is sent as a challenge, and the client answers it before it gets 535 (RFC 7628 §3.2.3).
        this.send(334, BEARER_FAILURE);
        this._nextHandler = (_answer, next) => {
          refuse();
          next();
        };
      } else refuse();
      callback();
    });
  }
}

export class SubmissionServer extends InboundServer {
  protected override connectionOf(
    socket: net.Socket | tls.TLSSocket,
    options?: SMTPConnectionOptions | null,
  ): InboundConnection {
    return new SubmissionConnection(this, socket, options);
  }
}
