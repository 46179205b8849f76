/**
 * MTA-STS (RFC 8461) of the domains served here: the policy by which other hosts deliver by TLS to this one only, and its
 * records. The API serves it at `https://mta-sts.<domain>/.well-known/mta-sts.txt`; it is the same for all of them.
 */
import { createHash } from 'node:crypto';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { DomainRecord } from '#db/entities.ts';

type StsSettings = Pick<Settings, 'MTA_STS_MODE' | 'MAIL_HOSTNAME' | 'API_PUBLIC_URL'>;

const DAY_SECONDS = 86_400;
/** How long others keep a policy: short while it is tried, so that it can be corrected. */
const MAX_AGE_SECONDS = { none: DAY_SECONDS, testing: DAY_SECONDS, enforce: 14 * DAY_SECONDS };
/** RFC 8461 §3.1: at most 32 letters and digits. */
const ID_CHARACTERS = 20;
const HOST_PREFIX = 'mta-sts.';

/** Name of the host of the policy (RFC 8461 §3.3). */
export const stsHost = (domain: string): string => `${HOST_PREFIX}${domain.toLowerCase()}`;

/** The domain whose policy a host serves; undefined: it is no host of a policy. */
export function domainOfStsHost(host: string): string | undefined {
  const name = host.toLowerCase();
  return name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : undefined;
}

/** @returns undefined: MTA_STS_MODE is off */
export function stsPolicy({ MTA_STS_MODE: mode, MAIL_HOSTNAME }: StsSettings): string | undefined {
  if (mode === 'off') return undefined;
  const lines = ['version: STSv1', `mode: ${mode}`, `mx: ${MAIL_HOSTNAME}`, `max_age: ${MAX_AGE_SECONDS[mode]}`];
  return lines.map((line) => `${line}\r\n`).join('');
}

/** None if MTA_STS_MODE is off. The id is another one whenever the policy is. */
export function stsRecords(settings: StsSettings, domain: string): DomainRecord[] {
  const policy = stsPolicy(settings);
  if (policy === undefined) return [];
  const id = createHash('sha256').update(policy).digest('hex').slice(0, ID_CHARACTERS);
  const target =
    settings.API_PUBLIC_URL === undefined ? settings.MAIL_HOSTNAME : new URL(settings.API_PUBLIC_URL).hostname;
  const open = { required: false, status: 'pending', found: [] as string[] } as const;
  return [
    { ...open, purpose: 'mta_sts_host', type: 'CNAME', name: stsHost(domain), value: target },
    {
      ...open,
      purpose: 'mta_sts',
      type: 'TXT',
      name: `_mta-sts.${domain.toLowerCase()}`,
      value: `v=STSv1; id=${id}`,
    },
  ];
}
