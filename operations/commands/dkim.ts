/** `dkim …`: the keys that sign mail, and their rotation. */
import { allOtherDkimKeys, type OtherDkimKey } from '#core/mailboxes/dkim-keys.ts';
import {
  continueDkimRotations,
  DKIM_RETIRE_AFTER_MS,
  retireDkimKeys,
  type SigningKey,
  signingKeys,
  startDkimRotation,
} from '#core/mailboxes/dkim-rotation.ts';
import { dkimRecord, instanceDkimKey, zoneFile } from '#core/mailboxes/domain-records.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CommandError, command } from '#operations/command.ts';
import { domainName } from '#operations/installation-settings.ts';

const DAY_MS = 86_400_000;

/** One key, for JSON. */
interface ShownKey {
  readonly domain: string;
  readonly selector: string;
  /** `signing`, or a state of a rotation. */
  readonly state: 'signing' | OtherDkimKey['state'];
  readonly createdAt: Date;
  /** When its record may be removed; null: not before it is replaced. */
  readonly removableAt: Date | null;
  /** What name servers said of the record; null: they were not asked. */
  readonly dns: string | null;
  /** The record, as line of a zone file. */
  readonly record: string;
}

const recordLine = (key: Pick<SigningKey, 'domain' | 'selector' | 'publicKey'>): string =>
  zoneFile([dkimRecord(key.domain, key)]).trim();

async function shownKeys(services: Services, only: string | undefined): Promise<ShownKey[]> {
  await instanceDkimKey(services);
  const [signing, others] = await Promise.all([signingKeys(services), allOtherDkimKeys(services.db)]);
  const isWanted = ({ domain }: { readonly domain: string }) => only === undefined || domain === only.toLowerCase();
  return signing.filter(isWanted).flatMap((key): ShownKey[] => [
    { ...shown(key), state: 'signing', removableAt: null, dns: null },
    ...others
      .filter(({ domain, domainId }) => domain === key.domain && domainId === key.domainId)
      .map((other) => ({
        ...shown(other),
        state: other.state,
        removableAt: other.switchedAt === null ? null : new Date(other.switchedAt.getTime() + DKIM_RETIRE_AFTER_MS),
        dns: other.dnsAnswer,
      })),
  ]);

  function shown(key: Pick<SigningKey, 'domain' | 'selector' | 'publicKey' | 'createdAt'>) {
    return { domain: key.domain, selector: key.selector, createdAt: key.createdAt, record: recordLine(key) };
  }
}

function keysText(keys: readonly ShownKey[]): string {
  if (keys.length === 0) return 'No key signs for such a domain.';
  return [...Map.groupBy(keys, ({ domain }) => domain)]
    .flatMap(([domain, own]) => [
      domain,
      ...own.flatMap(({ selector, state, createdAt, removableAt, dns, record }) => [
        `  ${selector}  ${state}, made ${createdAt.toISOString().slice(0, 10)}${describe(state, removableAt, dns)}`,
        ...(state === 'next' ? [`    ${record}`] : []),
      ]),
    ])
    .join('\n');
}

function describe(state: ShownKey['state'], removableAt: Date | null, dns: string | null): string {
  const day = removableAt?.toISOString().slice(0, 10);
  if (state === 'next') return `; waits for DNS${dns === null ? '' : `: ${dns}`}. Add this record:`;
  if (state === 'retiring') return `; keep its record until ${day}`;
  return state === 'retired' ? '; remove its record' : '';
}

const domain = { text: 'domain (default: MAIL_DOMAIN)', optional: true, form: domainName } as const;

/** @throws {CommandError} */
function requireDomain<Found>(found: Found | undefined, name: string): Found {
  if (found === undefined)
    throw new CommandError(
      `${name} does not sign here: it is neither MAIL_DOMAIN nor a verified domain of an organization`,
    );
  return found;
}

export const listDkimCommand = command({
  name: 'dkim list',
  summary: 'list the DKIM keys of all domains, with their age and rotation',
  description:
    'Lists the key that signs for each domain, and those of its rotation: the next one with the record to add, and old ones with the day from which their records may be removed. Makes the key of MAIL_DOMAIN if the database has none.',
  arguments: { domain: { ...domain, text: 'only of this domain' } },
  options: {},
  examples: ['dkim list', 'dkim list agents.example.org --json'],
  async run(context) {
    const keys = await shownKeys(await context.services(), context.args.domain);
    context.output({ keys }, keysText(keys));
    return 'done';
  },
});

export const rotateDkimCommand = command({
  name: 'dkim rotate',
  summary: 'replace the DKIM key of a domain without a gap',
  description: `Makes the next key of a domain and prints its record; add it to DNS beside the one that is there. While the service runs, it signs with the new key by itself as soon as every name server that it asks has the record: those of DNS_SERVERS (or of the system) and those of the zone. Keep the old record until the day that \`dkim list\` says, ${Math.ceil(DKIM_RETIRE_AFTER_MS / DAY_MS)} days after the switch. Run again, it looks at DNS at once. Domains of organizations show the record in the dashboard too. Findings: the new key does not sign yet.`,
  arguments: { domain },
  options: { again: { text: 'begin another rotation, although the last key was replaced less than eight days ago' } },
  examples: ['dkim rotate', 'dkim rotate customer.example'],
  async run(context) {
    const services = await context.services();
    const name = context.args.domain ?? services.settings.MAIL_DOMAIN;
    // Those of earlier runs first: a rotation that is finished by DNS alone is not begun again.
    const before = await continueDkimRotations(services, { domain: name });
    const switched = before.switched.at(-1);
    if (switched !== undefined) {
      const keys = await shownKeys(services, name);
      context.output(
        { switched: true, keys },
        `${switched.selector} signs for ${switched.domain} from now on.\n\n${keysText(keys)}`,
      );
      return 'done';
    }
    const known = await shownKeys(services, name);
    // Somebody who asks again how far it is must not begin the next one.
    if (
      !context.options.again &&
      known.some(({ state }) => state === 'retiring') &&
      !known.some(({ state }) => state === 'next')
    ) {
      const text = 'The key was replaced already; --again begins another rotation.';
      context.output({ switched: false, keys: known }, `${text}\n\n${keysText(known)}`);
      return 'done';
    }
    requireDomain(await startDkimRotation(services, name), name);
    const keys = await shownKeys(services, name);
    context.output({ switched: false, keys }, keysText(keys));
    return 'findings';
  },
});

export const retireDkimCommand = command({
  name: 'dkim retire',
  summary: 'give up the old DKIM keys of a domain at once, for example after a theft',
  description:
    'Ends the time for which the records of replaced keys stay in DNS, and prints which to remove. Mail that is on its way with their signatures may then fail at its receivers. Without this command it happens by itself. It does nothing to the key that signs: rotate that one first.',
  arguments: { domain },
  options: {},
  examples: ['dkim retire agents.example.org'],
  async run(context) {
    const services = await context.services();
    const name = context.args.domain ?? services.settings.MAIL_DOMAIN;
    const retired = await retireDkimKeys(services, name);
    const records = retired.map(({ selector, domain: own }) => `${selector}._domainkey.${own}`);
    context.output(
      { retired: records },
      records.length === 0
        ? `${name} has no key that was replaced.`
        : ['Remove these records from DNS:', ...records.map((each) => `  ${each}`)].join('\n'),
    );
    return 'done';
  },
});
