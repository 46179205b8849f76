/** The mail process that is measured: all doors as in production, more connections of one address, DNS from memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { createLogger } from '../../core/logger.ts';
import { openServices } from '../../core/services.ts';
import { readSettings } from '../../core/settings.ts';
import { startMail } from '../../mail/start.ts';
import { answerCalls } from '../child-calls.ts';
import { profileCalls } from '../profile-calls.ts';
import { senderDns } from '../sender-dns.ts';

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
  async doors() {
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
export type DoorCalls = typeof calls;

answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
