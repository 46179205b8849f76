/** The clients of the service, a process of their own: callers of the API and senders of mail. */
import { Pool } from 'undici';
import { answerCalls } from './child-calls.ts';
import { type EventLoad, eventMark, type LoadTimes, monotonicMs, noTimes, timedLoad } from './event-load.ts';
import { smtpLoad } from './smtp-load.ts';
import type { Subscriber } from './subscribers.ts';

interface ApiLoad extends EventLoad {
  readonly apiUrl: string;
}

interface MailLoad extends EventLoad {
  readonly host: string;
  readonly port: number;
  readonly messageBytes: number;
}

/** Each event is a POST with an API key, over connections that are kept alive. */
async function postLoad(
  load: ApiLoad,
  requestOf: (event: number, subscriber: Subscriber) => { readonly path: string; readonly body: object },
): Promise<LoadTimes> {
  const pool = new Pool(load.apiUrl, { connections: load.producers, pipelining: 1 });
  try {
    return await timedLoad(load, async (event, subscriber) => {
      const request = requestOf(event, subscriber);
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: request.path,
        headers: { 'content-type': 'application/json', 'x-organization-key': subscriber.apiKey },
        body: JSON.stringify(request.body),
      });
      const text = await body.text();
      if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${text}`);
    });
  } finally {
    await pool.destroy();
  }
}

const calls = {
  /** Each event is a mailbox. */
  api: (load: ApiLoad): Promise<LoadTimes> =>
    postLoad(load, (event) => ({ path: '/api/mailboxes', body: { name: eventMark(load.run, event) } })),
  /** Each event is a message of one mailbox of an organization to another one. */
  letters: (load: ApiLoad): Promise<LoadTimes> =>
    postLoad(load, (event, { mailboxes }) => {
      const from = mailboxes[event % mailboxes.length];
      const to = mailboxes[(event + 1) % mailboxes.length];
      return {
        path: `/api/mailboxes/${from?.id}/messages`,
        body: { to: [to?.address], subject: eventMark(load.run, event), text: 'x'.repeat(500) },
      };
    }),
  /** Each event is a mail; every producer has a connection. */
  async mail(load: MailLoad): Promise<LoadTimes> {
    const times = noTimes(load.events);
    const mailboxes = load.subscribers.flatMap((subscriber) => subscriber.mailboxes);
    const { refused } = await smtpLoad({
      host: load.host,
      port: load.port,
      connections: load.producers,
      messages: load.events,
      messageBytes: load.messageBytes,
      recipients: mailboxes.map(({ address }) => address),
      subject: (message) => eventMark(load.run, load.first + message),
      onSent: (message) => {
        times.startedMs[message] = monotonicMs();
      },
      onAccepted: (message) => {
        times.acceptedMs[message] = monotonicMs();
      },
    });
    if (refused.size > 0 && load.untilFailure !== true)
      throw new Error(`mail was refused: ${JSON.stringify([...refused])}`);
    return times;
  },
};
export type LoadMakerCalls = typeof calls;

answerCalls(calls, async () => {});
