/**
 * The sender alone, a process of its own: worker and dispatcher as in the service, and producers that record events the
 * way a caller does, each event in a transaction of its own, followed by a nudge.
 */
import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { startDispatcher } from '../core/dispatcher.ts';
import { createLogger } from '../core/logger.ts';
import { recordEvents } from '../core/record-event.ts';
import { openServices } from '../core/services.ts';
import { readSettings } from '../core/settings.ts';
import { temporalConnectionOptions } from '../core/temporal-client.ts';
import { SYSTEM_ACTOR } from '../domain/event-envelope.ts';
import { installTemporalRuntime, startWorker } from '../worker/start.ts';
import { answerCalls } from './child-calls.ts';
import { eventMark } from './event-mark.ts';
import { monotonicMs } from './monotonic-clock.ts';
import type { Subscriber } from './subscribers.ts';

/** Events to record; subscribers take turns. */
export interface RecordLoad {
  readonly run: number;
  /** Number of the first event. */
  readonly first: number;
  readonly events: number;
  readonly producers: number;
  readonly subscribers: readonly Subscriber[];
}

/** Times of each event on the monotonic clock, in the order of their numbers. */
export interface LoadTimes {
  readonly startedMs: Float64Array;
  readonly acceptedMs: Float64Array;
}

/** With the envelope around it an event is about 1 KB of JSON. */
const PADDING = 'x'.repeat(430);

const settings = readSettings(process.env);
const services = await openServices(
  settings,
  createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true })),
);
installTemporalRuntime(services);
const connection = await NativeConnection.connect(temporalConnectionOptions(settings));
const worker = await startWorker(services, connection, { bundleCache: `${settings.DATA_DIR}/cache` });
const dispatcher = startDispatcher(services, worker.temporal);

async function recordOne(run: number, event: number, { organization, mailbox }: Subscriber): Promise<void> {
  const data = {
    messageId: `msg_${event}`,
    from: { name: 'A sender', address: 'sender@example.com' },
    subject: eventMark(run, event),
    text: PADDING,
  };
  await services.db.transaction((sql) =>
    recordEvents(sql, [{ type: 'email_received', organization, mailbox, actor: SYSTEM_ACTOR, data }]),
  );
  services.deliveriesDue.nudge();
}

let profiler: Session | undefined;

const calls = {
  async record({ run, first, events, producers, subscribers }: RecordLoad): Promise<LoadTimes> {
    const times = { startedMs: new Float64Array(events), acceptedMs: new Float64Array(events) };
    let next = 0;
    async function produce(): Promise<void> {
      while (next < events) {
        const at = next++;
        const subscriber = subscribers[at % subscribers.length];
        if (subscriber === undefined) throw new Error('there is no subscriber');
        times.startedMs[at] = monotonicMs();
        await recordOne(run, first + at, subscriber);
        times.acceptedMs[at] = monotonicMs();
      }
    }
    await Promise.all(Array.from({ length: producers }, produce));
    return times;
  },
  async startProfile() {
    profiler = new Session();
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.setSamplingInterval', { interval: 500 });
    await profiler.post('Profiler.start');
  },
  async endProfile() {
    const result = await profiler?.post('Profiler.stop');
    profiler?.disconnect();
    return result?.profile;
  },
};
export type ServiceCalls = typeof calls;

answerCalls(calls, async () => {
  await dispatcher.close();
  await Promise.race([worker.close(), delay(5_000)]);
  await connection.close();
  await services.close();
});
