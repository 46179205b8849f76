/** One SMTP session with one address of a mail host, which transmits one message. */
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { OUTBOUND_GREETING_TIMEOUT_MS, OUTBOUND_SESSION_MAX_MS } from '#domain/sending/outbound.ts';
import {
  accepted,
  asSent,
  dsnOf,
  failure,
  isAscii,
  NOT_ANY_MORE,
  outOfPlace,
  rejections,
  resultsOf,
  type Said,
  saysTaken,
  type Transaction,
  tookTooLong,
  withoutSmtpUtf8,
} from './smtp-outcome.ts';
import type { OutgoingMail, RecipientResult } from './transport.ts';

export interface SmtpSession {
  /** Name of the mail host, which a verified certificate must be for. */
  readonly host: string;
  /** Its address, or its name again. */
  readonly address: string;
  readonly port: number;
  /** Of this host, in EHLO. */
  readonly hostname: string;
  /**
   * `verified`: STARTTLS with a valid certificate, or nothing. `checked`: the same where the host offers STARTTLS.
   * `offered`: STARTTLS if the host offers it, whatever its certificate (RFC 7435). `none`: without TLS. `implicit`:
   * from the first byte, with a valid certificate. `required`: STARTTLS with any certificate, or nothing.
   */
  readonly tls: 'verified' | 'checked' | 'offered' | 'none' | 'implicit' | 'required';
  /** Decides about the certificate too, before anything is sent; where it is given, there is no session without TLS. */
  readonly isAllowed?: (socket: TLSSocket) => boolean;
  /** Given where the host offers AUTH. */
  readonly login?: { readonly user: string; readonly pass: string } | undefined;
  /** Root certificates instead of Node's own, PEM. */
  readonly ca?: readonly string[] | undefined;
  readonly silenceMs: number;
  /** Time limit of the whole session; default 15 minutes. */
  readonly sessionMs?: number | undefined;
}

export type SessionEnd =
  /** MAIL was sent to the host; no other host may be tried, or somebody gets the message twice. */
  | { readonly asked: true; readonly results: readonly RecipientResult[] }
  /** MAIL was not sent. */
  | { readonly asked: false; readonly failure: Said; readonly tlsFailed: boolean };

/** How long the host may take to answer QUIT. */
const QUIT_WITHIN_MS = 5_000;

/** The host is ending the connection itself (RFC 5321 §3.8). */
const ENDS_CONNECTION = 421;

/** What the session uses of nodemailer beyond its types, which one test names if another version lacks it. */
interface Inside {
  readonly _supportedExtensions: readonly string[];
  readonly _envelope: Transaction | false;
  /** Replies that were received and not processed. */
  readonly _responseQueue: readonly string[];
  _processResponse(): void;
  /** While the message, with the dot at its end, is not completely written. */
  readonly _currentDataStream: object | false;
}
const inside = (connection: SMTPConnection): Inside => connection as SMTPConnection & Inside;

const isOpen = ({ _socket: socket }: SMTPConnection): boolean =>
  Boolean(socket) && Reflect.get(Object(socket), 'writable') === true;

/** Code that nodemailer gives failures of TLS. */
const TLS_FAILED = 'ETLS';

const isTrusted = (socket: unknown, isAllowed: (socket: TLSSocket) => boolean): boolean =>
  socket instanceof TLSSocket && isAllowed(socket);

/** Never rejects: failures are outcomes. */
export function smtpSession(session: SmtpSession, mail: OutgoingMail): Promise<SessionEnd> {
  const { host, address, port, hostname, tls, isAllowed, login, ca, silenceMs } = session;
  const { sessionMs = OUTBOUND_SESSION_MAX_MS } = session;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const connection = new SMTPConnection({
    host: address,
    port,
    name: hostname,
    ...servername,
    secure: tls === 'implicit',
    requireTLS: tls === 'verified' || tls === 'required',
    opportunisticTLS: tls === 'offered',
    ignoreTLS: tls === 'none',
    tls: {
      ...servername,
      rejectUnauthorized: tls === 'verified' || tls === 'checked' || tls === 'implicit',
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca: [...ca] }),
    },
    connectionTimeout: Math.min(OUTBOUND_GREETING_TIMEOUT_MS, silenceMs),
    greetingTimeout: Math.min(OUTBOUND_GREETING_TIMEOUT_MS, silenceMs),
    socketTimeout: silenceMs,
  });
  return new Promise((resolve) => {
    let asked = false;
    /** A stop came between the envelope and the content. */
    let withdrawn = false;
    /** Results of recipients that are not handed over, by lower-cased address. */
    let leftOut: ReadonlyMap<string, Said> = new Map();
    const settle = (error: unknown, said: Said): void => {
      clearTimeout(limit);
      if (withdrawn) return resolve({ asked: true, results: resultsOf(mail, new Map(), NOT_ANY_MORE) });
      if (asked) {
        const transaction = inside(connection)._envelope || {};
        // The host answers RCPT after a refused MAIL too, but only that it is too early.
        if (transaction.mailError)
          return resolve({ asked, results: resultsOf(mail, leftOut, failure(transaction.mailError, host)) });
        const rejected = new Map([...rejections(transaction, host), ...leftOut]);
        return resolve({ asked, results: resultsOf(mail, rejected, said) });
      }
      const tlsFailed = connection.upgrading === true || Reflect.get(Object(error), 'code') === TLS_FAILED;
      resolve({ asked: false, tlsFailed, failure: { ...said, kind: 'deferred' } });
    };
    const failed = (error: unknown, said: Said = failure(error, host)) => {
      settle(error, said);
      connection.close();
    };
    /** Says goodbye (RFC 5321 §4.1.1.10). */
    const leave = () => {
      const timer = setTimeout(() => connection.close(), QUIT_WITHIN_MS).unref();
      connection.once('end', () => clearTimeout(timer));
      connection.quit();
    };
    /** A command was refused. QUIT follows where the host waits for a command: within a message it would be text. */
    const refused = (error: unknown) => {
      const status = Number(Reflect.get(Object(error), 'responseCode') ?? 0);
      const waits = isOpen(connection) && !inside(connection)._currentDataStream;
      if (status < 400 || status === ENDS_CONNECTION || !waits) return failed(error);
      settle(error, failure(error, host));
      leave();
    };
    /** nodemailer takes a turn for each reply, and forgets those that wait when the host closes the connection. */
    const processReplies = () => {
      for (let left = inside(connection)._responseQueue.length; left > 0 && !connection.destroyed; left--)
        inside(connection)._processResponse();
    };
    const limit = setTimeout(() => failed(undefined, tookTooLong(sessionMs)), sessionMs);
    connection.on('error', (error) => failed(error));
    // The reason comes first, if there is one.
    connection.on('end', () => setImmediate(() => failed(new Error('Connection closed unexpectedly'))));
    const mayBegin = async () => (await mail.mayBegin?.()) !== false;
    const refrain = (results: readonly RecipientResult[]) => {
      clearTimeout(limit);
      resolve({ asked: true, results });
      leave();
    };
    /**
     * Read when the host has answered DATA: the last moment at which a stop is heeded, as recipients may take minutes to
     * answer. Without the end of its data the host must not take the message (RFC 5321 §4.1.1.4).
     */
    const content = (bytes: Buffer): Readable =>
      new Readable({
        read() {
          const reply = String(connection.lastServerResponse);
          // nodemailer takes 250 for 354: the host would read the message as commands.
          if (!reply.startsWith('3')) return failed(undefined, outOfPlace(reply, host));
          mayBegin().then(
            (may) => {
              withdrawn = !may;
              if (withdrawn) return void this.destroy(new Error('sending was stopped'));
              // The host is busy with the whole message then (RFC 5321 §4.5.3.2.6).
              if (connection._socket) connection._socket.setTimeout(silenceMs * 2);
              this.push(bytes);
              this.push(null);
            },
            (error: Error) => this.destroy(error),
          );
        },
      });
    const handOver = async () => {
      const takesUtf8 = inside(connection)._supportedExtensions.includes('SMTPUTF8');
      const refusedHere = takesUtf8 ? [] : mail.recipients.filter((address) => !isAscii(address));
      leftOut = new Map(refusedHere.map((address) => [asSent(address).toLowerCase(), withoutSmtpUtf8(host)]));
      const recipients = mail.recipients.filter((address) => !refusedHere.includes(address));
      if (recipients.length === 0) return refrain(resultsOf(mail, leftOut, withoutSmtpUtf8(host)));
      // nodemailer asks for SMTPUTF8 if an address of the envelope needs it.
      const bytes = (recipients.every(isAscii) ? await mail.asciiHeader?.() : undefined) ?? mail.bytes;
      asked = true;
      const envelope = {
        from: mail.sender,
        to: recipients.map(asSent),
        size: bytes.length,
        use8BitMime: bytes.some((byte) => byte > 127),
        dsn: dsnOf(mail),
      };
      connection.send(envelope, content(bytes), (error, info) => {
        if (error) return refused(error);
        // An answer before the end of the message is not about the message.
        if (inside(connection)._currentDataStream || !saysTaken(info.response))
          return failed(undefined, outOfPlace(info.response, host));
        settle(undefined, accepted(info, host));
        leave();
      });
    };
    // Connecting may have taken half a minute.
    const begin = () =>
      void mayBegin()
        .then((may) => (may ? handOver() : refrain(resultsOf(mail, new Map(), NOT_ANY_MORE))))
        .catch(failed);
    connection.connect((error) => {
      if (error) return failed(error);
      if (connection._socket) connection._socket.on('data', processReplies);
      if (isAllowed !== undefined && !isTrusted(connection._socket, isAllowed))
        return failed(Object.assign(new Error('the certificate is not one of the TLSA records'), { code: TLS_FAILED }));
      if (login === undefined || !connection.allowsAuth) return begin();
      connection.login(login, (error) => (error ? refused(error) : begin()));
    });
  });
}
