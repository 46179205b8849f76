/**
 * The mail process of the ingest measurement: the inbound door with sender authentication on, its DNS answered from
 * memory.
 */
import { pino } from 'pino';
import { createLogger } from '../core/logger.ts';
import { openServices } from '../core/services.ts';
import { readSettings } from '../core/settings.ts';
import { startMail } from '../mail/start.ts';
import { answerCalls } from './child-calls.ts';
import { senderDns } from './sender-dns.ts';

const settings = readSettings(process.env);
const log = createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true }));
const services = await openServices(settings, log);
const mail = await startMail(services, { lookup: senderDns });
const calls = { address: async () => mail.smtp };
export type DoorCalls = typeof calls;
answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
