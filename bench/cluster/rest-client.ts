/** A caller of the REST API: each request has an Idempotency-Key, which its repetitions keep. */
import { Pool } from 'undici';
import type { LoadSubscriber } from './subscriber.ts';
import { failedTry, type TryOutcome } from './try-outcome.ts';

const ANSWER_WITHIN_MS = 15_000;
const CONNECT_WITHIN_MS = 3_000;
const CONNECTIONS = 8;

export interface RestClient {
  createMailbox(name: string): Promise<TryOutcome>;
  sendMessage(mailboxId: string, to: string, subject: string): Promise<TryOutcome>;
  close(): Promise<void>;
}

/** Of one api process. */
export function openRestClient(apiUrl: string, { apiKey }: Pick<LoadSubscriber, 'apiKey'>): RestClient {
  const pool = new Pool(apiUrl, {
    connections: CONNECTIONS,
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
      if (statusCode === 201) {
        const tokenMissing = hasToken && typeof (JSON.parse(text) as { token?: unknown }).token !== 'string';
        return { kind: 'accepted', tokenMissing };
      }
      const retryAfter = Number(headers['retry-after']);
      const again = statusCode >= 500 || statusCode === 429 || (statusCode === 409 && text.includes('still running'));
      if (!again) return { kind: 'refused', by: `${statusCode} ${text.slice(0, 200)}` };
      const by =
        statusCode >= 500 && !Number.isFinite(retryAfter) ? `${statusCode} without Retry-After` : `${statusCode}`;
      return { kind: 'deferred', by, afterMs: Number.isFinite(retryAfter) ? retryAfter * 1_000 : undefined };
    } catch (error) {
      return failedTry(error);
    }
  }

  return {
    createMailbox: (name) => post('/api/mailboxes', name, { name }, true),
    sendMessage: (mailboxId, to, subject) =>
      post(
        `/api/mailboxes/${mailboxId}/messages`,
        subject,
        { to: [to], subject, text: 'Your order is on its way.' },
        false,
      ),
    close: () => pool.destroy(),
  };
}
