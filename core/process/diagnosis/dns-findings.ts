/**
 * What DNS says of this installation: the records of MAIL_DOMAIN, the addresses of MAIL_HOSTNAME and their names, MTA-STS,
 * and the names at which mail clients look for their settings. Every look-up has a limit of time; DNS without an answer
 * is a note, never an error.
 */
import { get } from 'node:https';
import { publicListenerPorts } from '#core/mailboxes/client-settings.ts';
import type { DkimRecord } from '#core/mailboxes/dkim-keys.ts';
import { askDns, checkRecords, mailRecords, relayHostOf, zoneFile } from '#core/mailboxes/domain-records.ts';
import { stsPolicy, stsRecords } from '#core/mailboxes/mta-sts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { DomainRecord } from '#db/entities.ts';
import { type Finding, findingsOf } from './finding.ts';
import { isTrialName } from './settings-findings.ts';

const { ok, note, warning, error } = findingsOf('dns');

const SHOWN_CHARACTERS = 200;
const POLICY_WITHIN_MS = 5_000;
/** RFC 8461 §3.2 suggests 64 KB. */
const POLICY_MAX_BYTES = 64 * 1024;

/**
 * Records that MAIL_DOMAIN needs.
 *
 * @param dkim undefined: the key was not made yet, and its record is left out
 * @param otherDkimKeys of MAIL_DOMAIN, that are in a rotation
 */
export function instanceRecords(
  settings: Settings,
  dkim: DkimRecord | undefined,
  otherDkimKeys: readonly DkimRecord[] = [],
): DomainRecord[] {
  const ofMail = mailRecords({
    name: settings.MAIL_DOMAIN.toLowerCase(),
    mailHost: settings.MAIL_HOSTNAME,
    relayHost: relayHostOf(settings),
    dkimSelector: dkim?.selector ?? '',
    dkimPublicKey: dkim?.publicKey ?? '',
    otherDkimKeys,
    ...publicListenerPorts(settings),
  });
  const records = [...ofMail, ...stsRecords(settings, settings.MAIL_DOMAIN)];
  return dkim === undefined ? records.filter(({ purpose }) => purpose !== 'dkim') : records;
}

const shown = (values: readonly string[]): string => {
  const text = values.join(' | ');
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
};

function recordFinding(record: DomainRecord): Finding {
  const { purpose, type, name, required, status, found } = record;
  const title = `${purpose.toUpperCase().replaceAll('_', '-')}: ${name} ${type}`;
  const add = `Add this record: ${zoneFile([record]).trim()}`;
  const report = required ? error : warning;
  switch (status) {
    case 'found':
      return ok(`${title} is right.`);
    case 'pending':
      return note(`${title}: DNS gave no answer.`, 'Run this again; if it stays, look at DNS_SERVERS.');
    case 'missing':
      return report(`${title} does not exist.`, add);
    case 'wrong':
      return report(
        `${title} is another one: ${shown(found)}`,
        purpose === 'spf'
          ? `Let one record begin with v=spf1, and contain ${record.value.split(' ').slice(1, -1).join(' and ')}.`
          : `Correct it: ${zoneFile([record]).trim()}`,
      );
  }
}

/** @param dkim undefined: the key was not made yet */
export async function dnsFindings(
  settings: Settings,
  dkim: DkimRecord | undefined,
  otherDkimKeys: readonly DkimRecord[],
): Promise<Finding[]> {
  if (isTrialName(settings.MAIL_DOMAIN) || isTrialName(settings.MAIL_HOSTNAME))
    return [note(`DNS has nothing for ${settings.MAIL_DOMAIN} at ${settings.MAIL_HOSTNAME}, which is for trials.`)];
  const [records, host, sts, clients] = await Promise.all([
    checkRecords(settings, instanceRecords(settings, dkim, otherDkimKeys)),
    hostFindings(settings),
    stsFindings(settings),
    clientFindings(settings),
  ]);
  const noKey =
    dkim === undefined
      ? [
          note(
            'DKIM: the key of MAIL_DOMAIN was not made yet.',
            'Run `agent-mailbox-admin dns-records`, which makes it.',
          ),
        ]
      : [];
  return [...records.map(recordFinding), ...noKey, ...host, ...sts, ...clients];
}

/** Addresses of MAIL_HOSTNAME, and the names of these addresses (PTR). */
async function hostFindings(settings: Settings): Promise<Finding[]> {
  const ask = askDns(settings);
  const name = settings.MAIL_HOSTNAME;
  const [four, six] = await Promise.all([ask((dns) => dns.resolve4(name)), ask((dns) => dns.resolve6(name))]);
  const addresses = [...(four ?? []), ...(six ?? [])];
  if (addresses.length === 0)
    return four === undefined || six === undefined
      ? [note(`${name}: DNS gave no answer about its addresses.`, 'Run this again.')]
      : [
          error(
            `${name} has no address: other hosts cannot find this one.`,
            `Add an A record (and an AAAA record, if it has IPv6) with the public address of this host.`,
          ),
        ];
  const names = await Promise.all(
    addresses.map(async (address) => [address, await ask((dns) => dns.reverse(address))] as const),
  );
  // A relay has an address of its own.
  const report = settings.OUTBOUND_TRANSPORT === 'mx' ? error : note;
  return [
    ok(`${name} has the addresses ${addresses.join(', ')}.`),
    ...names.map(([address, found]) => {
      if (found === undefined) return note(`PTR: DNS gave no answer about the name of ${address}.`, 'Run this again.');
      if (found.some((each) => each.toLowerCase() === name.toLowerCase())) return ok(`PTR: ${address} is ${name}.`);
      const is = found.length === 0 ? 'has no name' : `is ${shown(found)}, not ${name}`;
      return report(
        `PTR: ${address} ${is}. Many hosts refuse mail from such an address.`,
        `Let the provider of the address set its reverse name to ${name}.`,
      );
    }),
  ];
}

/** MTA-STS (RFC 8461) of MAIL_DOMAIN: not needed, but wrong ones keep mail away. */
async function stsFindings(settings: Settings): Promise<Finding[]> {
  const ask = askDns(settings);
  const domain = settings.MAIL_DOMAIN.toLowerCase();
  const texts = await ask((dns) => dns.resolveTxt(`_mta-sts.${domain}`));
  if (texts === undefined) return [note('MTA-STS: DNS gave no answer.', 'Run this again.')];
  const records = texts.map((strings) => strings.join('')).filter((text) => /^v=STSv1\s*;/i.test(text));
  if (records.length === 0) return [note(`MTA-STS: ${domain} has none; hosts may deliver without TLS.`)];
  const host = `mta-sts.${domain}`;
  if (records.length > 1)
    return [warning(`MTA-STS: _mta-sts.${domain} has ${records.length} records, so none counts.`, 'Keep one.')];
  const addresses = (await ask((dns) => dns.resolve4(host))) ?? [];
  const [address] = addresses.length > 0 ? addresses : ((await ask((dns) => dns.resolve6(host))) ?? []);
  if (address === undefined)
    return [
      warning(
        `MTA-STS: _mta-sts.${domain} exists, but ${host} has no address: the policy cannot be fetched.`,
        `Serve the policy at https://${host}/.well-known/mta-sts.txt, or remove the record.`,
      ),
    ];
  try {
    const policy = await fetchPolicy(host, address);
    const problem = stsProblem(policy, settings.MAIL_HOSTNAME) ?? otherPolicy(policy, settings);
    return [
      problem === undefined
        ? ok(`MTA-STS: the policy of ${domain} allows ${settings.MAIL_HOSTNAME}.`)
        : warning(`MTA-STS: ${problem}`, `Correct https://${host}/.well-known/mta-sts.txt.`),
    ];
  } catch (failure) {
    return [
      warning(
        `MTA-STS: https://${host}/.well-known/mta-sts.txt cannot be fetched: ${reasonOf(failure)}.`,
        'Serve it with a valid certificate of that name, or remove the record.',
      ),
    ];
  }
}

/** While this installation serves the policy: whether it is that one. */
export function otherPolicy(policy: string, settings: Settings): string | undefined {
  const own = stsPolicy(settings);
  const lines = (text: string) =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join('\n');
  return own === undefined || lines(own) === lines(policy)
    ? undefined
    : `the policy is another one than that of MTA_STS_MODE=${settings.MTA_STS_MODE}.`;
}

function fetchPolicy(host: string, address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Redirects are not followed (RFC 8461 §3.3).
    const request = get(
      `https://${host}/.well-known/mta-sts.txt`,
      {
        signal: AbortSignal.timeout(POLICY_WITHIN_MS),
        agent: false,
        lookup: (_name, _options, found) => found(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
      },
      (response) => {
        let text = '';
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
          if (text.length > POLICY_MAX_BYTES) response.destroy(new Error('it is too long'));
        });
        response.on('end', () => resolve(text));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
  });
}

/** What is wrong with a policy for mail to this host; undefined: nothing. */
export function stsProblem(policy: string, mailHost: string): string | undefined {
  const values = (name: string) =>
    policy.split(/\r?\n/).flatMap((line) => {
      const [key = '', value] = line.split(/:\s*/, 2);
      return key.trim() === name && value !== undefined ? [value.trim().toLowerCase()] : [];
    });
  const [mode] = values('mode');
  if (values('version')[0] !== 'stsv1') return 'the policy does not begin with version: STSv1.';
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return 'the policy has no valid mode.';
  if (!/^\d+$/.test(values('max_age')[0] ?? '')) return 'the policy has no max_age.';
  const host = mailHost.toLowerCase();
  const allows = (pattern: string) =>
    pattern === host || (pattern.startsWith('*.') && host.slice(host.indexOf('.')) === pattern.slice(1));
  if (mode !== 'none' && !values('mx').some(allows))
    return `the policy (${mode}) has no mx line that allows ${mailHost}: ${mode === 'enforce' ? 'hosts do not deliver here' : 'reports will say so'}.`;
  return undefined;
}

/** Where Thunderbird, Outlook and others look for settings; the SRV records are among those of the domain. */
async function clientFindings(settings: Settings): Promise<Finding[]> {
  const ask = askDns(settings);
  const names = ['autoconfig', 'autodiscover'].map((each) => `${each}.${settings.MAIL_DOMAIN.toLowerCase()}`);
  return Promise.all(
    names.map(async (name) => {
      const found = await Promise.all([ask((dns) => dns.resolve4(name)), ask((dns) => dns.resolve6(name))]);
      if (found.some((each) => each !== undefined && each.length > 0)) return ok(`${name} has an address.`);
      return note(`${name} has no address: some mail clients of people must be set up by hand.`);
    }),
  );
}
