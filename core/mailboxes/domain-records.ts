/**
 * The DNS records a customer's domain needs so that this instance can receive and send its mail, whether DNS has them,
 * and how questions are asked. The DKIM key of the instance's own domain, MAIL_DOMAIN, is made when it is asked for first.
 */
import { Resolver } from 'node:dns/promises';
import type { Services } from '#core/platform/process/services.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';
import type { DomainRecord } from '#db/entities.ts';
import { REPORT_ADDRESSES } from '#domain/mail/domain-reports.ts';
import { spfOfRelay } from '#domain/mail/spf-of-relays.ts';
import { type DkimRecord, makeDkimKey } from './dkim-keys.ts';

interface InstanceDkimKey extends DkimRecord {
  /** PEM. */
  readonly privateKey: string;
}

interface KeyRow {
  selector: string;
  public_key: string;
  private_key_sealed: string;
}

/** Place of the instance's DKIM keys (see `core/platform/secrets/sealed-secrets.ts`). */
export const instanceDkimPlace = (domain: string): string => `dkim_key:private_key:${domain}`;
const FIND_KEY = `select selector, public_key, private_key_sealed from dkim_key where domain = $1`;

/** What DNS publishes of that key; undefined: it was not made yet. */
export async function instanceDkimRecord(
  db: Sql,
  { MAIL_DOMAIN }: Pick<Settings, 'MAIL_DOMAIN'>,
): Promise<DkimRecord | undefined> {
  const [row] = await db.query<KeyRow>(FIND_KEY, [MAIL_DOMAIN.toLowerCase()]);
  return row === undefined ? undefined : { selector: row.selector, publicKey: row.public_key };
}

export async function instanceDkimKey({
  db,
  secrets,
  settings,
  now,
  log,
}: Pick<Services, 'db' | 'secrets' | 'settings' | 'now' | 'log'>): Promise<InstanceDkimKey> {
  const domain = settings.MAIL_DOMAIN.toLowerCase();
  let [row] = await db.query<KeyRow>(FIND_KEY, [domain]);
  if (row === undefined) {
    const { publicKey, privateKey } = await makeDkimKey();
    const selector = `am${new Date(now()).toISOString().slice(0, 7).replace('-', '')}`;
    // Another process may be quicker; its key is the one then.
    await db.query(
      `insert into dkim_key (domain, selector, public_key, private_key_sealed) values ($1, $2, $3, $4) on conflict do nothing`,
      [domain, selector, publicKey, secrets.seal(privateKey, instanceDkimPlace(domain))],
    );
    [row] = await db.query<KeyRow>(FIND_KEY, [domain]);
    log.info({ domain, selector }, 'made the DKIM key of the instance; GET /api/domains/default shows its DNS record');
  }
  if (row === undefined) throw new Error('the DKIM key of the instance was made and is not there');
  const { selector, public_key: publicKey, private_key_sealed: sealed } = row;
  return { selector, publicKey, privateKey: secrets.open(sealed, instanceDkimPlace(domain)) };
}

type RecordState = Pick<DomainRecord, 'status' | 'found'>;

const MX_PREFERENCE = 10;
const TTL_SECONDS = 3_600;
/** RFC 1035 §3.3.14: a TXT record is made of strings of at most 255 bytes. */
const TXT_STRING_MAX = 255;

interface MailFacts {
  readonly name: string;
  readonly dkimSelector: string;
  /** Base64 of the SubjectPublicKeyInfo. */
  readonly dkimPublicKey: string;
  /** Keys whose records must be there beside it: the next one, and those before it. */
  readonly otherDkimKeys?: readonly DkimRecord[];
  /** Name of the host that receives and sends. */
  readonly mailHost: string;
  /** Relay by which mail leaves; undefined: none. */
  readonly relayHost?: string | undefined;
  /** Ports of mail clients as seen from outside; by TLS from the first byte where the name does not say STARTTLS. */
  readonly imapsPort: number;
  readonly pop3sPort: number;
  readonly submissionsPort: number;
  readonly submissionStarttlsPort: number;
}

interface DomainFacts extends MailFacts {
  readonly verificationToken: string;
}

const record = (
  purpose: DomainRecord['purpose'],
  type: DomainRecord['type'],
  name: string,
  value: string,
  required: boolean,
): DomainRecord => ({ purpose, type, name, value, required, status: 'pending', found: [] });

/** Records in the order a person sets them up. The required ones make the domain verified. */
export const domainRecords = (facts: DomainFacts): DomainRecord[] => [
  record(
    'ownership',
    'TXT',
    `_agent-mailbox.${facts.name}`,
    `agent-mailbox-verification=${facts.verificationToken}`,
    true,
  ),
  ...mailRecords(facts),
];

/** The record of one DKIM key of a domain. */
export const dkimRecord = (domain: string, { selector, publicKey }: DkimRecord): DomainRecord =>
  record('dkim', 'TXT', `${selector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${publicKey}`, false);

/** The relay of OUTBOUND_RELAY_URL, where mail leaves by one. */
export const relayHostOf = ({
  OUTBOUND_TRANSPORT,
  OUTBOUND_RELAY_URL,
}: Pick<Settings, 'OUTBOUND_TRANSPORT' | 'OUTBOUND_RELAY_URL'>): string | undefined =>
  OUTBOUND_TRANSPORT === 'relay' && OUTBOUND_RELAY_URL !== undefined ? new URL(OUTBOUND_RELAY_URL).hostname : undefined;

/** Records that mail needs, for any domain. */
export function mailRecords(facts: MailFacts): DomainRecord[] {
  const { name, mailHost } = facts;
  return [
    record('mx', 'MX', name, `${MX_PREFERENCE} ${mailHost}`, true),
    record('spf', 'TXT', name, spfPolicy(facts), false),
    ...[{ selector: facts.dkimSelector, publicKey: facts.dkimPublicKey }, ...(facts.otherDkimKeys ?? [])].map((key) =>
      dkimRecord(name, key),
    ),
    record(
      'dmarc',
      'TXT',
      `_dmarc.${name}`,
      `v=DMARC1; p=quarantine; rua=mailto:${REPORT_ADDRESSES.dmarc}@${name}`,
      false,
    ),
    record('tls_rpt', 'TXT', `_smtp._tls.${name}`, `v=TLSRPTv1; rua=mailto:${REPORT_ADDRESSES.tls}@${name}`, false),
    // RFC 6186 and 8314: how mail clients find the listeners; IMAP before POP3, TLS before STARTTLS.
    record('imaps', 'SRV', `_imaps._tcp.${name}`, `0 1 ${facts.imapsPort} ${mailHost}`, false),
    record('pop3s', 'SRV', `_pop3s._tcp.${name}`, `10 1 ${facts.pop3sPort} ${mailHost}`, false),
    record('submissions', 'SRV', `_submissions._tcp.${name}`, `0 1 ${facts.submissionsPort} ${mailHost}`, false),
    record('submission', 'SRV', `_submission._tcp.${name}`, `10 1 ${facts.submissionStarttlsPort} ${mailHost}`, false),
  ];
}

/** Allows the host itself too: it may be set to send directly later. */
function spfPolicy({ mailHost, relayHost }: MailFacts): string {
  const relay = relayHost === undefined ? undefined : spfOfRelay(relayHost);
  return `v=spf1 a:${mailHost} ${relay === undefined ? '' : `${relay} `}~all`;
}

/** The public key in a DKIM record (RFC 6376 §3.6.1); undefined: there is none. */
export const dkimKeyOfRecord = (value: string): string | undefined =>
  /(?:^|;)\s*p\s*=([^;]*)/.exec(value)?.[1]?.replaceAll(/\s/g, '');

const stsId = (value: string): string | undefined => /;\s*id\s*=\s*(\w+)/i.exec(value)?.[1];

const withoutDot = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** Whether the values DNS gave for a record's name and type fulfil it. TXT values with their strings joined. */
function recordState(record: DomainRecord, values: readonly string[]): RecordState {
  const state = (found: readonly string[], fulfilled: boolean): RecordState => ({
    status: fulfilled ? 'found' : found.length === 0 ? 'missing' : 'wrong',
    found: [...found],
  });
  switch (record.purpose) {
    case 'ownership':
      return state(values, values.includes(record.value));
    case 'mx': {
      const host = withoutDot(record.value.split(' ')[1] ?? '');
      return state(
        values,
        values.some((value) => withoutDot(value.split(' ')[1] ?? '') === host),
      );
    }
    case 'imaps':
    case 'pop3s':
    case 'submissions':
    case 'submission': {
      const target = (value: string) => withoutDot(value.split(' ').slice(2).join(' '));
      return state(
        values,
        values.some((value) => target(value) === target(record.value)),
      );
    }
    case 'spf': {
      const policies = values.filter((value) => /^v=spf1(?: |$)/i.test(value));
      const terms = (policy: string) => policy.toLowerCase().split(/\s+/);
      const mechanisms = terms(record.value).slice(1, -1);
      const allows = (policy: string) => mechanisms.every((mechanism) => terms(policy).includes(mechanism));
      // RFC 7208 §4.5: more than one policy is an error.
      return state(policies, policies.length === 1 && policies.some(allows));
    }
    case 'dkim': {
      const wanted = dkimKeyOfRecord(record.value);
      return state(
        values,
        values.some((value) => dkimKeyOfRecord(value) === wanted),
      );
    }
    case 'mta_sts': {
      const policies = values.filter((value) => /^v=STSv1\s*;/i.test(value));
      // RFC 8461 §3.1: of several records none counts. The id says that the policy has changed.
      return state(policies, policies.length === 1 && policies.some((value) => stsId(value) === stsId(record.value)));
    }
    case 'mta_sts_host':
      return state(
        values,
        values.some((value) => withoutDot(value) === withoutDot(record.value)),
      );
    case 'tls_rpt': {
      // RFC 8460 §3: of several records none counts. Reports may go wherever the owner wants.
      const policies = values.filter((value) => /^v=TLSRPTv1\s*;/i.test(value));
      return state(policies, policies.length === 1);
    }
    case 'dmarc': {
      // Any policy of the owner's choice will do.
      const policies = values.filter((value) => /^v=DMARC1(?:;|\s|$)/i.test(value));
      return state(policies, policies.length === 1);
    }
  }
}

/** Text for a zone file (RFC 1035 §5). */
export function zoneFile(records: readonly DomainRecord[]): string {
  const lines = records.map(({ name, type, value }) => {
    const data = type === 'TXT' ? txtStrings(value).join(' ') : `${value}.`;
    return `${name}. ${TTL_SECONDS} IN ${type} ${data}`;
  });
  return `${lines.join('\n')}\n`;
}

function txtStrings(value: string): string[] {
  const strings: string[] = [];
  for (let at = 0; at < value.length; at += TXT_STRING_MAX)
    strings.push(`"${value.slice(at, at + TXT_STRING_MAX).replaceAll(/["\\]/g, '\\$&')}"`);
  return strings;
}

const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
/** DNS says that there is nothing, as against saying nothing. */
export const NOTHING_THERE = new Set(['ENODATA', 'ENOTFOUND']);

/** Asks DNS. @returns values; undefined when DNS gave no answer at all (timeout, SERVFAIL). Never throws. */
type AskDns = <Value>(query: (resolver: Resolver) => Promise<Value[]>) => Promise<Value[] | undefined>;

/** With the servers of DNS_SERVERS, else those of the system. */
export function askDns({ DNS_SERVERS }: Pick<Settings, 'DNS_SERVERS'>): AskDns {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (DNS_SERVERS.length > 0) resolver.setServers([...DNS_SERVERS]);
  return async (query) => {
    try {
      return await query(resolver);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      return NOTHING_THERE.has(code) ? [] : undefined;
    }
  };
}

/** Name of a CNAME; of a name with addresses: the wanted one, if it has the same. */
async function aliasOf(resolver: Resolver, name: string, wanted: string): Promise<string[]> {
  const orNothing = (asked: Promise<string[]>): Promise<string[]> =>
    asked.catch((error: NodeJS.ErrnoException) => {
      if (NOTHING_THERE.has(error.code ?? '')) return [];
      throw error;
    });
  const names = await orNothing(resolver.resolveCname(name));
  if (names.length > 0) return names;
  const addressesOf = async (host: string) =>
    (await Promise.all([orNothing(resolver.resolve4(host)), orNothing(resolver.resolve6(host))])).flat();
  const [own, theirs] = await Promise.all([addressesOf(name), addressesOf(wanted)]);
  return own.some((address) => theirs.includes(address)) ? [wanted] : own;
}

/** Values of a name, MX as `preference host`, SRV as `priority weight port host`. */
async function lookUp(resolver: Resolver, { type, name, value }: DomainRecord): Promise<string[]> {
  if (type === 'CNAME') return aliasOf(resolver, name, value);
  if (type === 'MX') return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
  if (type === 'SRV')
    return (await resolver.resolveSrv(name)).map((found) =>
      [found.priority, found.weight, found.port, found.name].join(' '),
    );
  return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
}

/** The records with the current result of DNS. One without an answer (timeout, SERVFAIL) is `pending`. Never throws. */
export async function checkRecords(
  settings: Pick<Settings, 'DNS_SERVERS'>,
  records: readonly DomainRecord[],
): Promise<DomainRecord[]> {
  const ask = askDns(settings);
  return Promise.all(
    records.map(async (record) => {
      const values = await ask((resolver) => lookUp(resolver, record));
      return values === undefined
        ? { ...record, status: 'pending' as const, found: [] }
        : { ...record, ...recordState(record, values) };
    }),
  );
}
