/** The mail process under test: all listeners as in production, more connections of one address, DNS in memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { answerCalls } from '#bench/child-calls.ts';
import { profileCalls } from '#bench/profile-calls.ts';
import { senderDns } from '#bench/sender-dns.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { startMail } from '#mail/start.ts';

const CONNECTIONS_PER_SOURCE = 5_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const settings = readSettings(process.env);
const log = createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true }));
const services = await openServices(settings, log);
const mail = await startMail(services, {
  lookup: senderDns,
  connectionsPerSource: CONNECTIONS_PER_SOURCE,
  clients: { connectionsPerSource: CONNECTIONS_PER_SOURCE },
});
const calls = {
  async listeners() {
    return { smtp: mail.smtp, imap: mail.imap, pop3: mail.pop3 };
  },
  /** Bytes of resident memory, and of those on the heap, after a full collection. */
  async memory() {
    for (let i = 0; i < 3; i++) collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heapUsed };
  },
  ...profileCalls(),
};
export type ListenerCalls = typeof calls;

answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
