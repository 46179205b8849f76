/** The clients of the service, a process of their own: callers of the API and senders of mail. */
import { Pool } from 'undici';
import { answerCalls } from './child-calls.ts';
import { type EventLoad, type LoadTimes, noTimes, timedLoad } from './event-load.ts';
import { eventMark } from './event-mark.ts';
import { monotonicMs } from './monotonic-clock.ts';
import { smtpLoad } from './smtp-load.ts';

export interface ApiLoad extends EventLoad {
  readonly apiUrl: string;
}

export interface MailLoad extends EventLoad {
  readonly host: string;
  readonly port: number;
  readonly messageBytes: number;
}

const calls = {
  /** Each event is a mailbox, created over a connection that is kept alive. */
  async api(load: ApiLoad): Promise<LoadTimes> {
    const pool = new Pool(load.apiUrl, { connections: load.producers, pipelining: 1 });
    try {
      return await timedLoad(load, async (event, { apiKey }) => {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path: '/api/mailboxes',
          headers: { 'content-type': 'application/json', 'x-organization-key': apiKey },
          body: JSON.stringify({ name: eventMark(load.run, event) }),
        });
        const text = await body.text();
        if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${text}`);
      });
    } finally {
      await pool.destroy();
    }
  },
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
