import { Resolver } from 'node:dns/promises';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { DomainRecord } from '#db/entities/mail-domain.ts';
import { recordState } from './domain-records.ts';

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
/** DNS says that there is nothing, as against saying nothing. */
const NOTHING_THERE = new Set(['ENODATA', 'ENOTFOUND']);

/** Values of a name, MX as `preference host`, SRV as `priority weight port host`; undefined when DNS gave no answer at all. */
async function lookUp(resolver: Resolver, record: DomainRecord): Promise<string[] | undefined> {
  try {
    if (record.type === 'MX')
      return (await resolver.resolveMx(record.name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
    if (record.type === 'SRV')
      return (await resolver.resolveSrv(record.name)).map((found) =>
        [found.priority, found.weight, found.port, found.name].join(' '),
      );
    return (await resolver.resolveTxt(record.name)).map((strings) => strings.join(''));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return NOTHING_THERE.has(code) ? [] : undefined;
  }
}

/** The records with the current result of DNS. One without an answer (timeout, SERVFAIL) is `pending`. Never throws. */
export async function checkRecords(settings: Settings, records: readonly DomainRecord[]): Promise<DomainRecord[]> {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (settings.DNS_SERVERS.length > 0) resolver.setServers([...settings.DNS_SERVERS]);
  return Promise.all(
    records.map(async (record) => {
      const values = await lookUp(resolver, record);
      return values === undefined
        ? { ...record, status: 'pending' as const, found: [] }
        : { ...record, ...recordState(record, values) };
    }),
  );
}
