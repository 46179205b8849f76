/** A sending mail server with several connections to one mail process. */
import { createTransport } from 'nodemailer';
import { failedTry, type TryOutcome } from './try-outcome.ts';

const CONNECTIONS = 4;
const ANSWER_WITHIN_MS = 15_000;
const CONNECT_WITHIN_MS = 3_000;

export interface SmtpClient {
  send(from: string, to: string, message: Buffer): Promise<TryOutcome>;
  close(): void;
}

export function openSmtpClient(port: number, ca: string): SmtpClient {
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: 1_000,
    host: '127.0.0.1',
    port,
    name: 'sender.test',
    tls: { ca },
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
        const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : Number.NaN;
        if (!Number.isFinite(code)) return failedTry(error);
        const by = `${code} ${error instanceof Error ? error.message.slice(0, 120) : ''}`;
        return code < 500 ? { kind: 'deferred', by: String(code) } : { kind: 'refused', by };
      }
    },
    close: () => transport.close(),
  };
}
