import type { DnsLookup } from '#mail/smtp/dns-resolver.ts';

const RECORDS: Readonly<Record<string, string>> = {
  'sender.test': 'v=spf1 ip4:127.0.0.1 -all',
  '_dmarc.sender.test': 'v=DMARC1; p=reject',
};

/** DNS from memory, of a sender with SPF and DMARC: sender authentication runs, and only our own work is measured. */
export const senderDns: DnsLookup = async (name, type) => {
  const record = type === 'TXT' ? RECORDS[name] : undefined;
  if (record !== undefined) return [[record]];
  throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' });
};
