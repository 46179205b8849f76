/** Clients of a load: each says of every try whether it was accepted, so that what is lost can be counted. */
import { createTransport } from 'nodemailer';
import { Pool } from 'undici';

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

const ANSWER_WITHIN_MS = 15_000;
const CONNECT_WITHIN_MS = 3_000;
const REST_CONNECTIONS = 8;
const SMTP_CONNECTIONS = 4;

/** A property of an error as text; empty: it has none. */
export const property = (error: unknown, name: string): string =>
  error instanceof Error && name in error ? String(Object(error)[name]) : '';

/** Of a connection that failed. */
export function failedTry(error: unknown): TryOutcome {
  const codes = [error, error instanceof Error ? error.cause : undefined].map((each) => property(each, 'code'));
  const unreachable =
    codes.some((code) => ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)) ||
    property(error, 'message').includes('ECONNREFUSED');
  return { kind: unreachable ? 'unreachable' : 'uncertain' };
}

interface RestClient {
  createMailbox(name: string): Promise<TryOutcome>;
  sendMessage(mailboxId: string, to: string, subject: string): Promise<TryOutcome>;
  close(): Promise<void>;
}

/** Each request has an Idempotency-Key, which its repetitions keep. */
export function openRestClient(apiUrl: string, apiKey: string): RestClient {
  const pool = new Pool(apiUrl, {
    connections: REST_CONNECTIONS,
    pipelining: 1,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
    connect: { timeout: CONNECT_WITHIN_MS },
  });
  async function post(path: string, key: string, content: unknown, hasToken: boolean): Promise<TryOutcome> {
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'x-organization-key': apiKey, 'idempotency-key': key },
        body: JSON.stringify(content),
      });
      const text = await body.text();
      if (statusCode === 201) return { kind: 'accepted', tokenMissing: hasToken && !/"token":"/.test(text) };
      const again = statusCode >= 500 || statusCode === 429 || (statusCode === 409 && text.includes('still running'));
      if (!again) return { kind: 'refused', by: `${statusCode} ${text.slice(0, 200)}` };
      const afterMs = Number(headers['retry-after']) * 1_000;
      if (Number.isFinite(afterMs)) return { kind: 'deferred', by: `${statusCode}`, afterMs };
      return { kind: 'deferred', by: `${statusCode}${statusCode >= 500 ? ' without Retry-After' : ''}` };
    } catch (error) {
      return failedTry(error);
    }
  }
  return {
    createMailbox: (name) => post('/api/mailboxes', name, { name }, true),
    sendMessage: (mailboxId, to, subject) =>
      post(`/api/mailboxes/${mailboxId}/messages`, subject, { to: [to], subject, text: 'Your order is ready.' }, false),
    close: () => pool.destroy(),
  };
}

export interface SmtpClient {
  send(from: string, to: string, message: Buffer): Promise<TryOutcome>;
  close(): void;
}

/**
 * A sending mail server with several connections.
 *
 * @param ca root certificate, PEM; undefined: those that the system trusts
 * @param serverName in the certificate; undefined: the host
 */
export function openSmtpClient(
  port: number,
  ca: string | undefined,
  host = '127.0.0.1',
  serverName?: string,
): SmtpClient {
  const transport = createTransport({
    ...{ pool: true, maxConnections: SMTP_CONNECTIONS, maxMessages: 1_000 },
    ...{
      host,
      port,
      name: 'sender.test',
      tls: { ...(serverName === undefined ? {} : { servername: serverName }), ...(ca === undefined ? {} : { ca }) },
    },
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: ANSWER_WITHIN_MS,
    socketTimeout: ANSWER_WITHIN_MS,
  });
  return {
    async send(from, to, message) {
      try {
        await transport.sendMail({ envelope: { from, to: [to] }, raw: message });
        return { kind: 'accepted' };
      } catch (error) {
        const code = Number.parseInt(property(error, 'responseCode'), 10);
        if (Number.isNaN(code)) return failedTry(error);
        if (code < 500) return { kind: 'deferred', by: String(code) };
        return { kind: 'refused', by: `${code} ${property(error, 'message').slice(0, 120)}` };
      }
    },
    close: () => transport.close(),
  };
}
