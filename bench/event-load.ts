/** The load of a measurement: events to create, the marks by which they are found again, and the clock for both. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Subscriber } from './subscribers.ts';

/** Milliseconds on the machine's monotonic clock: comparable between processes of one machine, unlike `performance.now`. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/**
 * The mark by which the sink identifies the event and the run of a request: it is in the subject of a mail, in the name
 * of a mailbox, or in the data of a recorded event.
 */
export const eventMark = (run: number, event: number): string => `bench-${run}-${event}-`;
export const EVENT_MARK = /bench-(\d+)-(\d+)-/;

/** Events to create; subscribers take turns. */
export interface EventLoad {
  readonly run: number;
  /** Number of the first event. */
  readonly first: number;
  readonly events: number;
  /** Number of concurrent producers, each as fast as possible. */
  readonly producers: number;
  readonly subscribers: readonly Subscriber[];
  /** Instead of as fast as possible: one after another at this rate, whether the ones before are accepted or not. */
  readonly perSecond?: number;
  /** A failure ends its producer instead of the load: something is about to be killed. */
  readonly untilFailure?: boolean;
}

/** Times of each event on the monotonic clock, in the order of their numbers; 0: did not happen. */
export interface LoadTimes {
  readonly startedMs: Float64Array;
  readonly acceptedMs: Float64Array;
}

export const noTimes = (events: number): LoadTimes => ({
  startedMs: new Float64Array(events),
  acceptedMs: new Float64Array(events),
});

/** Makes the events of a load by `makeOne`, which resolves when its event is accepted, and notes the times. */
export async function timedLoad(
  load: EventLoad,
  makeOne: (event: number, subscriber: Subscriber) => Promise<void>,
): Promise<LoadTimes> {
  const { first, events, producers, subscribers, perSecond, untilFailure } = load;
  const times = noTimes(events);
  let next = 0;
  async function one(): Promise<void> {
    const at = next++;
    const subscriber = subscribers[(first + at) % subscribers.length];
    if (subscriber === undefined) throw new Error('there is no subscriber');
    times.startedMs[at] = monotonicMs();
    await makeOne(first + at, subscriber);
    times.acceptedMs[at] = monotonicMs();
  }
  async function produce(): Promise<void> {
    while (next < events) await one();
  }
  const failed = (error: unknown) => {
    if (untilFailure !== true) throw error;
  };
  if (perSecond === undefined) {
    await Promise.all(Array.from({ length: producers }, () => produce().catch(failed)));
    return times;
  }
  const beganMs = performance.now();
  const accepted: Promise<void>[] = [];
  while (next < events) {
    accepted.push(one().catch(failed));
    const dueMs = beganMs + (next / perSecond) * 1_000;
    await delay(Math.max(0, dueMs - performance.now()));
  }
  await Promise.all(accepted);
  return times;
}
