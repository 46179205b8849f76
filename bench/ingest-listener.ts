/** The mail process of the ingest benchmark: the inbound listener with sender authentication on, and DNS in memory. */
import { pino } from 'pino';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { startMail } from '#mail/start.ts';
import { answerCalls } from './child-calls.ts';
import { profileCalls } from './profile-calls.ts';
import { senderDns } from './sender-dns.ts';

const settings = readSettings(process.env);
const log = createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true }));
const services = await openServices(settings, log);
const mail = await startMail(services, { lookup: senderDns });
const calls = {
  address: async () => mail.smtp,
  /** Processor time that the process has used, with all its threads. */
  cpuMs: async () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  ...profileCalls(),
};
export type ListenerCalls = typeof calls;
answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
