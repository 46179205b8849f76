/**
 * The mail process of the ingest measurement: the inbound door with sender authentication on, its DNS answered from
 * memory (a sender with SPF and DMARC), so that only our own work is measured.
 */
import { pino } from 'pino';
import { createLogger } from '../core/logger.ts';
import { openServices } from '../core/services.ts';
import { readSettings } from '../core/settings.ts';
import type { DnsLookup } from '../mail/smtp/dns-resolver.ts';
import { startMail } from '../mail/start.ts';
import { answerCalls } from './child-calls.ts';

const RECORDS: Readonly<Record<string, string>> = {
  'sender.test': 'v=spf1 ip4:127.0.0.1 -all',
  '_dmarc.sender.test': 'v=DMARC1; p=reject',
};
const lookup: DnsLookup = async (name, type) => {
  const record = type === 'TXT' ? RECORDS[name] : undefined;
  if (record !== undefined) return [[record]];
  throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' });
};

const settings = readSettings(process.env);
const log = createLogger(settings.LOG_LEVEL, pino.destination({ dest: 2, sync: true }));
const services = await openServices(settings, log);
const mail = await startMail(services, { lookup });
const calls = { address: async () => mail.smtp };
export type DoorCalls = typeof calls;
answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
