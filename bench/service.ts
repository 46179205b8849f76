/**
 * The service, a separate process: worker, dispatcher, API and inbound mail as in the process `all`, and producers that
 * record events like a caller, each event in its own transaction, followed by a wake-up.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { startApi } from '#api/start.ts';
import { recordEvents } from '#core/events/record-event.ts';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { startMail } from '#mail/start.ts';
import { installTemporalRuntime, startWorker } from '#worker/start.ts';
import { answerCalls } from './child-calls.ts';
import { type EventLoad, eventMark, type LoadTimes, timedLoad } from './event-load.ts';
import { countTraffic } from './pool-traffic.ts';
import { profileCalls } from './profile-calls.ts';
import { senderDns } from './sender-dns.ts';
import type { Subscriber } from './subscribers.ts';

/** With the envelope around it an event is about 1 KB of JSON. */
const PADDING = 'x'.repeat(430);

const settings = readSettings(process.env);
const services = await openServices(
  settings,
  createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true })),
);
const traffic = countTraffic(services.db.pool);
installTemporalRuntime(services);
const connection = await NativeConnection.connect(temporalConnectionOptions(settings));
const worker = await startWorker(services, connection);
const dispatcher = startDispatcher(services, worker.temporal);
const api = await startApi(services, worker.temporal);
const mail = await startMail(services, { lookup: senderDns });

async function recordOne(run: number, event: number, subscriber: Subscriber): Promise<void> {
  const { organization, mailboxes } = subscriber;
  const mailbox = mailboxes[event % mailboxes.length] ?? null;
  const data = {
    messageId: `msg_${event}`,
    from: { name: 'A sender', address: 'sender@example.com' },
    subject: eventMark(run, event),
    text: PADDING,
  };
  const waiting = await services.db.transaction((sql) =>
    recordEvents(sql, [{ type: 'email_received', organization, mailbox, actor: SYSTEM_ACTOR, data }]),
  );
  if (waiting > 0) services.deliveriesDue.wake();
}

const calls = {
  record: (load: EventLoad): Promise<LoadTimes> =>
    timedLoad(load, (event, subscriber) => recordOne(load.run, event, subscriber)),
  async traffic() {
    return traffic.soFar();
  },
  async listeners() {
    return { apiUrl: api.url, smtp: mail.smtp };
  },
  ...profileCalls(),
};
export type ServiceCalls = typeof calls;

answerCalls(calls, async () => {
  await Promise.race([Promise.all([api.close(), mail.close()]), delay(5_000)]);
  await dispatcher.close();
  await Promise.race([worker.close(), delay(5_000)]);
  await connection.close();
  await services.close();
});
