/** One SMTP session with one address of a mail host, which hands over one message. */
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { OUTBOUND_GREETING_TIMEOUT_MS, OUTBOUND_SESSION_MAX_MS } from '../../domain/outbound.ts';
import { accepted, dsnOf, failure, rejections, resultsOf, type Said, tookTooLong } from './smtp-outcome.ts';
import type { OutgoingMail, RecipientResult } from './transport.ts';

export interface SmtpSession {
  /** Name of the mail host, which a verified certificate must be for. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** Of this host, in EHLO. */
  readonly hostname: string;
  /**
   * `verified`: STARTTLS with a valid certificate, or nothing. `offered`: STARTTLS where the host offers it, whatever
   * its certificate (RFC 7435). `none`: in the clear.
   */
  readonly tls: 'verified' | 'offered' | 'none';
  /** Root certificates instead of Node's own, PEM. */
  readonly ca?: readonly string[] | undefined;
  readonly silenceMs: number;
  /** How long all of it may take; default 15 minutes. */
  readonly sessionMs?: number | undefined;
}

export type SessionEnd =
  /** The host was asked to take the message; no other one may be, or somebody gets it twice. */
  | { readonly asked: true; readonly results: readonly RecipientResult[] }
  /** It never came to that. */
  | { readonly asked: false; readonly failure: Said; readonly tlsFailed: boolean };

/** How long the host may take to answer QUIT. */
const QUIT_WITHIN_MS = 5_000;

/** Never rejects: what goes wrong is an outcome. */
export function smtpSession(session: SmtpSession, mail: OutgoingMail): Promise<SessionEnd> {
  const { host, address, port, hostname, tls, ca, silenceMs, sessionMs = OUTBOUND_SESSION_MAX_MS } = session;
  const connection = new SMTPConnection({
    host: address,
    port,
    name: hostname,
    servername: host,
    requireTLS: tls === 'verified',
    opportunisticTLS: tls === 'offered',
    ignoreTLS: tls === 'none',
    tls: {
      servername: host,
      rejectUnauthorized: tls === 'verified',
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca: [...ca] }),
    },
    connectionTimeout: Math.min(OUTBOUND_GREETING_TIMEOUT_MS, silenceMs),
    greetingTimeout: Math.min(OUTBOUND_GREETING_TIMEOUT_MS, silenceMs),
    socketTimeout: silenceMs,
  });
  return new Promise((resolve) => {
    let asked = false;
    const failed = (error: unknown, said: Said = failure(error)) => {
      clearTimeout(limit);
      if (asked) resolve({ asked: true, results: resultsOf(mail, rejections(error), said) });
      else {
        const tlsFailed = connection.upgrading === true || Reflect.get(Object(error), 'code') === 'ETLS';
        resolve({ asked: false, tlsFailed, failure: { ...said, kind: 'deferred' } });
      }
      connection.close();
    };
    const limit = setTimeout(() => failed(undefined, tookTooLong(sessionMs)), sessionMs);
    connection.on('error', (error) => failed(error));
    // The reason comes first where there is one.
    connection.on('end', () => setImmediate(() => failed(new Error('Connection closed unexpectedly'))));
    connection.connect((error) => {
      if (error) return failed(error);
      asked = true;
      const envelope = {
        from: mail.sender,
        to: [...mail.recipients],
        size: mail.bytes.length,
        use8BitMime: mail.bytes.some((byte) => byte > 127),
        dsn: dsnOf(mail),
      };
      connection.send(envelope, mail.bytes, (refused, info) => {
        if (refused) return failed(refused);
        clearTimeout(limit);
        resolve({ asked: true, results: resultsOf(mail, rejections(info), accepted(info)) });
        const timer = setTimeout(() => connection.close(), QUIT_WITHIN_MS).unref();
        connection.once('end', () => clearTimeout(timer));
        connection.quit();
      });
    });
  });
}
