/** The destination of mail for a domain: its mail hosts and their addresses (RFC 5321 §5.1, null MX of RFC 7505). */
import { Resolver } from 'node:dns/promises';
import type { Said } from './smtp-outcome.ts';

const QUERY_TIMEOUT_MS = 4_000;
const TRIES = 2;
/** The name does not exist, has no such records, or is not a valid name. */
const NEGATIVE_CODES = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

export interface MailHosts {
  /** Names in the order in which to try them, or the result for the whole domain. */
  of(domain: string): Promise<{ readonly hosts: readonly string[] } | { readonly problem: Said }>;
  /** IPv6 and IPv4 addresses in turn. `trouble`: DNS did not answer for all hosts. */
  addresses(host: string): Promise<{ readonly addresses: readonly string[]; readonly trouble: boolean }>;
  txt(name: string): Promise<string[][]>;
}

const codeOf = (error: unknown): string => String(Reflect.get(Object(error), 'code') ?? 'failed');
const isNegative = (error: unknown): boolean => NEGATIVE_CODES.has(codeOf(error));
const plainName = (name: string): string => name.replace(/\.$/, '').toLowerCase();

/**
 * @param servers `address` or `address:port`; empty: those of the system
 * @param ownName of this host: hosts that are no nearer to the mailbox than this one are left out
 */
export function mailHosts(servers: readonly string[], ownName: string): MailHosts {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);

  return {
    async of(domain) {
      let records: readonly { readonly priority: number; readonly exchange: string }[];
      try {
        records = await resolver.resolveMx(domain);
      } catch (error) {
        if (codeOf(error) === 'ENOTFOUND')
          return { problem: { kind: 'failed', code: '5.1.2', reply: `There is no domain ${domain}` } };
        if (!isNegative(error)) {
          const reply = `DNS does not answer for the mail hosts of ${domain} (${codeOf(error)})`;
          return { problem: { kind: 'deferred', code: '4.4.3', reply } };
        }
        records = [];
      }
      // No MX: the domain is its own mail host.
      if (records.length === 0) records = [{ priority: 0, exchange: domain }];
      const named = records.map((each) => ({ ...each, exchange: plainName(each.exchange) }));
      const real = named.filter(({ exchange }) => exchange !== '');
      if (real.length === 0)
        return { problem: { kind: 'failed', code: '5.1.10', reply: `${domain} accepts no mail (null MX)` } };
      const own = real.filter(({ exchange }) => exchange === plainName(ownName));
      const nearest = Math.min(...own.map(({ priority }) => priority));
      const hosts = real
        .filter(({ priority }) => priority < nearest)
        // Hosts of the same preference share the load by chance.
        .map((each) => ({ ...each, chance: Math.random() }))
        .toSorted((a, b) => a.priority - b.priority || a.chance - b.chance)
        .map(({ exchange }) => exchange);
      if (hosts.length === 0)
        return { problem: { kind: 'failed', code: '5.4.6', reply: `Mail for ${domain} would come back to this host` } };
      return { hosts: [...new Set(hosts)] };
    },

    async addresses(host) {
      const [v6, v4] = await Promise.allSettled([resolver.resolve6(host), resolver.resolve4(host)]);
      const six = v6.status === 'fulfilled' ? v6.value : [];
      const four = v4.status === 'fulfilled' ? v4.value : [];
      const inTurn = Array.from({ length: Math.max(six.length, four.length) }, (_, i) => [six[i], four[i]]);
      return {
        addresses: inTurn.flat().filter((address) => address !== undefined),
        trouble: [v6, v4].some((each) => each.status === 'rejected' && !isNegative(each.reason)),
      };
    },

    txt: (name) => resolver.resolveTxt(name),
  };
}
