/** Every DNS record of an installation, as lines of a zone file and as a table with what DNS has now. */
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { DkimRecord } from '#core/mailboxes/dkim-keys.ts';
import { askDns, checkRecords, relayHostOf, zoneFile } from '#core/mailboxes/domain-records.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { instanceRecords } from '#core/process/diagnosis/dns-findings.ts';
import { spfOfRelay } from '#domain/mail/spf-of-relays.ts';

const TTL_SECONDS = 3_600;

/** One record, for the table and for JSON. */
export interface ShownRecord {
  readonly name: string;
  readonly type: string;
  /** Null: only you know it, such as the public address of a machine behind NAT. */
  readonly value: string | null;
  readonly purpose: string;
  readonly required: boolean;
  /** What DNS has now; `pending`: it gave no answer. */
  readonly status: 'found' | 'missing' | 'wrong' | 'pending';
  /** Line of a zone file; a comment if something must be filled in, or if it belongs into another zone. */
  readonly line: string;
}

/** Public addresses of this machine; none behind NAT. */
function publicAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).flatMap(({ address, internal }) =>
      !internal && ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast' ? [address] : [],
    ),
  );
}

const reverseName = (address: string): string => {
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv4
    ? `${parsed.octets.toReversed().join('.')}.in-addr.arpa`
    : `${parsed
        .toByteArray()
        .toReversed()
        .map((byte) => `${(byte & 15).toString(16)}.${(byte >> 4).toString(16)}`)
        .join('.')}.ip6.arpa`;
};

/**
 * Records of MAIL_DOMAIN and MAIL_HOSTNAME.
 *
 * @param dkim undefined: the key was not made yet, and its record is left out
 * @param otherDkimKeys of MAIL_DOMAIN, that are in a rotation
 */
export async function installationRecords(
  settings: Settings,
  dkim: DkimRecord | undefined,
  otherDkimKeys: readonly DkimRecord[] = [],
): Promise<ShownRecord[]> {
  const ask = askDns(settings);
  const host = settings.MAIL_HOSTNAME;
  const [records, four, six] = await Promise.all([
    checkRecords(settings, instanceRecords(settings, dkim, otherDkimKeys)),
    ask((dns) => dns.resolve4(host)),
    ask((dns) => dns.resolve6(host)),
  ]);
  const known = [...(four ?? []), ...(six ?? [])];
  const silent = four === undefined || six === undefined;
  const addresses = known.length > 0 ? known : publicAddresses();
  const ofHost = await Promise.all(
    addresses.map(async (address): Promise<ShownRecord[]> => {
      const type = address.includes(':') ? 'AAAA' : 'A';
      const names = await ask((dns) => dns.reverse(address));
      const reverse = reverseName(address);
      const named = names?.some((name) => name.toLowerCase() === host.toLowerCase());
      const status = known.includes(address) ? 'found' : silent ? 'pending' : 'missing';
      return [
        {
          name: host,
          type,
          value: address,
          purpose: 'address',
          required: true,
          status,
          line: `${host}. ${TTL_SECONDS} IN ${type} ${address}`,
        },
        {
          name: reverse,
          type: 'PTR',
          value: host,
          purpose: 'reverse name',
          required: settings.OUTBOUND_TRANSPORT === 'mx',
          status: names === undefined ? 'pending' : named ? 'found' : names.length === 0 ? 'missing' : 'wrong',
          line: `; at the provider of the address: ${reverse}. ${TTL_SECONDS} IN PTR ${host}.`,
        },
      ];
    }),
  );
  const unknown: ShownRecord = {
    ...{
      name: host,
      type: 'A',
      value: null,
      purpose: 'address',
      required: true,
      status: silent ? 'pending' : 'missing',
    },
    line: `; fill in: ${host}. ${TTL_SECONDS} IN A <public address of this machine>`,
  };
  return [
    ...(addresses.length > 0 ? ofHost.flat() : [unknown]),
    ...records.map(({ name, type, value, purpose, required, status, ...rest }) => ({
      ...{ name, type, value, purpose, required, status },
      line: zoneFile([{ name, type, value, purpose, required, status, ...rest }]).trim(),
    })),
  ];
}

const SIGNS = { found: '✔', missing: '✖', wrong: '✖', pending: '·' } as const;

/** Lines for a zone file, then a table of the records with their state. */
export function recordsText(records: readonly ShownRecord[], settings: Settings, hasDkim: boolean): string {
  const relay = relayHostOf(settings);
  const remarks = [
    ...(hasDkim
      ? []
      : [
          'The DKIM record is missing here: its key is made in the database. After the first start run: agent-mailbox-admin dns-records',
        ]),
    ...(relay === undefined || spfOfRelay(relay) !== undefined
      ? []
      : [`SPF: what ${relay} needs is not known here: add what its documentation names, before ~all.`]),
  ];
  const width = (values: readonly string[]) => Math.max(...values.map(({ length }) => length));
  const [nameWidth, typeWidth, purposeWidth] = [
    width(records.map(({ name }) => name)),
    width(records.map(({ type }) => type)),
    width(records.map(({ purpose }) => purpose)),
  ];
  return [
    ...records.map(({ line }) => line),
    '',
    ...records.map(
      ({ name, type, purpose, required, status }) =>
        `${SIGNS[status]} ${purpose.padEnd(purposeWidth)}  ${type.padEnd(typeWidth)}  ${name.padEnd(nameWidth)}  ${status}${required ? '' : ' (recommended)'}`,
    ),
    ...(remarks.length > 0 ? ['', ...remarks] : []),
  ].join('\n');
}
