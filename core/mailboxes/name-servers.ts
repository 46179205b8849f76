/**
 * Whether every name server has a TXT record: the resolvers that this installation asks, and those that are responsible
 * for the zone. A resolver alone can have an answer that others do not get yet.
 */
import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type { Settings } from '#core/platform/settings/settings.ts';
import { NOTHING_THERE } from './domain-records.ts';

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
/** Of a zone; a zone with more is asked at these. */
const ZONE_SERVERS_MAX = 8;

/** Finds addresses (`address` or `address:port`) of the servers that are responsible for a name; none: not known. */
export type FindZoneServers = (settings: Pick<Settings, 'DNS_SERVERS'>, name: string) => Promise<readonly string[]>;

function resolverAt(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return resolver;
}

/** Names of its zone come from strangers, so only public addresses are asked. */
const isPublic = (address: string): boolean => ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';

export const zoneServers: FindZoneServers = async ({ DNS_SERVERS }, name) => {
  const resolver = resolverAt(DNS_SERVERS);
  const labels = name.split('.');
  // Not of the root, and not of a top-level domain.
  for (let at = 0; at < labels.length - 1; at++) {
    const names = await resolver.resolveNs(labels.slice(at).join('.')).catch(() => []);
    if (names.length === 0) continue;
    const found = await Promise.all(
      names.slice(0, ZONE_SERVERS_MAX).flatMap((server) => [
        // One address of each kind: they are the same server.
        resolver.resolve4(server).then(
          ([first]) => first,
          () => undefined,
        ),
        resolver.resolve6(server).then(
          ([first]) => first,
          () => undefined,
        ),
      ]),
    );
    return found.flatMap((address) => (address !== undefined && isPublic(address) ? [address] : []));
  }
  return [];
};

/** `silent`: no answer, or SERVFAIL. */
export type ServerAnswer = 'has' | 'lacks' | 'silent';

/**
 * What each server says of a TXT record, by its address. Never throws.
 *
 * @param fulfils whether a value of the name, with its strings joined, is the right one
 */
export async function askEachServer(
  settings: Pick<Settings, 'DNS_SERVERS'>,
  name: string,
  fulfils: (value: string) => boolean,
  findZoneServers: FindZoneServers = zoneServers,
): Promise<ReadonlyMap<string, ServerAnswer>> {
  const own = settings.DNS_SERVERS.length > 0 ? settings.DNS_SERVERS : new Resolver().getServers();
  const zone = await findZoneServers(settings, name).catch(() => []);
  const answers = await Promise.all(
    [...new Set([...own, ...zone])].map(async (server): Promise<[string, ServerAnswer]> => {
      try {
        const values = await resolverAt([server]).resolveTxt(name);
        return [server, values.some((strings) => fulfils(strings.join(''))) ? 'has' : 'lacks'];
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        return [server, NOTHING_THERE.has(code) ? 'lacks' : 'silent'];
      }
    }),
  );
  return new Map(answers);
}
