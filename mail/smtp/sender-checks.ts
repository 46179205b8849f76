/**
 * SPF, DKIM, DMARC and ARC of an incoming message, by mailauth. Each check has its own time limit for DNS and fails
 * independently: a sender's name servers cannot affect the other checks, and in particular not whether DMARC applies.
 *
 * DMARC is checked for each domain that a mail reader may show as the author's: those of every address in every From field
 * (RFC 9989 §5.3.1). None may be missing: two parsers read the field, and if neither finds an address, anything that looks
 * like one in the decoded text counts.
 */
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { type HeaderField, repeatedFields } from '@agent-mailbox/mime-structure/header-fields';
import { arc, dkimVerify, spf } from 'mailauth';
import addressparser from 'nodemailer/lib/addressparser';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import {
  AUTHOR_DOMAINS_MAX,
  AUTHOR_FIELDS_MAX_BYTES,
  DKIM_SIGNATURES_MAX,
  DMARC_ALIGNMENT_BUDGET_MS,
  DMARC_POLICY_BUDGET_MS,
  SENDER_CHECK_BUDGET_MS,
  SPF_LOOKUPS_MAX,
  SPF_VOID_LOOKUPS_MAX,
} from '#domain/mail/mail-limits.ts';
import {
  AUTH_VERDICTS,
  type AuthenticationResults,
  type AuthVerdict,
} from '#mailstore/delivery/authentication-results.ts';
import { type CheckedIdentifier, type DmarcConsequence, type DmarcVerdict, dmarcOf } from './dmarc-verdict.ts';
import { boundedLookup, type DnsLookup } from './dns-resolver.ts';
import { coverageOf } from './signature-coverage.ts';
import { receivedFields, withoutFields } from './trace-headers.ts';

interface SenderFacts {
  /** Bytes as the client sent them. */
  readonly received: Buffer;
  /** Its header fields, where they are known already. */
  readonly header?: readonly HeaderField[];
  readonly remoteAddress: string;
  readonly helo: string;
  /** Empty for the null sender. */
  readonly envelopeFrom: string;
  /** Our name in Authentication-Results. */
  readonly hostname: string;
}

/** Time for DNS in milliseconds; see `domain/mail/mail-limits.ts`. */
export interface SenderCheckBudgets {
  readonly checkMs: number;
  readonly policyMs: number;
  readonly alignmentMs: number;
}

export interface SenderChecked {
  readonly results: AuthenticationResults;
  /** Whole Authentication-Results field, with its line break. */
  readonly header: string;
  /**
   * The result of a DMARC policy of quarantine or reject: `unauthenticated` if the message fails it, `undecided` if DNS
   * did not answer.
   */
  readonly consequence: DmarcConsequence;
}

const SENDER_CHECK_BUDGETS: SenderCheckBudgets = {
  checkMs: SENDER_CHECK_BUDGET_MS,
  policyMs: DMARC_POLICY_BUDGET_MS,
  alignmentMs: DMARC_ALIGNMENT_BUDGET_MS,
};

const CHUNK_BYTES = 65_536;

/** @returns always, within the sum of the budgets */
export async function checkSender(
  facts: SenderFacts,
  lookup: DnsLookup,
  budgets: SenderCheckBudgets = SENDER_CHECK_BUDGETS,
): Promise<SenderChecked> {
  const header = facts.header ?? receivedFields(facts.received);
  const authors = authorDomains(header);
  const policies = authors.domains.map((author) => dmarcOf(author, lookup, budgets));
  const [spfCheck, dkimCheck] = await Promise.all([
    checkSpf(facts, lookup, budgets.checkMs),
    checkDkim(facts, header, authors, lookup, budgets.checkMs),
  ]);
  const identifiers = { spf: spfCheck.identifiers, dkim: dkimCheck.identifiers };
  const [arcCheck, ...verdicts] = await Promise.all([
    checkArc(dkimCheck.arc, facts, lookup, budgets.alignmentMs),
    ...policies.map((verdictOn) => verdictOn(identifiers)),
  ]);
  const dmarc = together(authors, repeatedFields(header), verdicts);
  return {
    results: {
      spf: spfCheck.result,
      dkim: {
        result:
          (dkimCheck.signatures.find(({ result }) => result === 'pass') ?? dkimCheck.signatures[0])?.result ??
          dkimCheck.unsigned,
        signatures: dkimCheck.signatures,
      },
      dmarc: { result: dmarc.result, domain: dmarc.domain, policy: dmarc.policy },
      arc: { result: arcCheck.result },
    },
    header: authenticationResultsField(facts.hostname, [
      ...dkimCheck.infos,
      spfCheck.info,
      ...arcCheck.infos,
      ...dmarc.infos,
    ]),
    consequence: dmarc.consequence,
  };
}

interface SpfCheck {
  readonly result: AuthenticationResults['spf'];
  readonly identifiers: readonly CheckedIdentifier[];
  readonly info: string;
}

async function checkSpf(facts: SenderFacts, lookup: DnsLookup, budgetMs: number): Promise<SpfCheck> {
  const asking = boundedLookup(lookup, budgetMs);
  try {
    const { status, domain, info } = await spf({
      ip: facts.remoteAddress,
      helo: heloName(facts),
      // Without a sender the HELO name is checked (RFC 7208 §2.4), not a Return-Path in the message.
      sender: facts.envelopeFrom,
      mta: facts.hostname,
      resolver: asking.lookup,
      maxResolveCount: SPF_LOOKUPS_MAX,
      maxVoidCount: SPF_VOID_LOOKUPS_MAX,
    });
    const result = verdictOf(status.result);
    return { result: { result, domain: domain || null }, identifiers: identifierOf(domain, result), info };
  } catch {
    // An error of the evaluation itself, which would be the same the next time.
    return { result: { result: 'permerror', domain: null }, identifiers: [], info: 'spf=permerror' };
  } finally {
    asking.end();
  }
}

/** An address is written in brackets (RFC 5321 §4.1.3); a client without a name is identified by its address. */
function heloName({ helo, remoteAddress }: SenderFacts): string {
  const name = helo || remoteAddress;
  return isIP(name) === 0 ? name : `[${name}]`;
}

const identifierOf = (domain: string | undefined, result: AuthVerdict): CheckedIdentifier[] =>
  domain && (result === 'pass' || result === 'temperror') ? [{ domain, result }] : [];

type DkimResult = Awaited<ReturnType<typeof dkimVerify>>;

interface DkimCheck {
  readonly signatures: AuthenticationResults['dkim']['signatures'];
  readonly identifiers: readonly CheckedIdentifier[];
  readonly infos: readonly string[];
  readonly arc: DkimResult['arc'] | undefined;
  /** The result without any signature. */
  readonly unsigned: AuthVerdict;
}

async function checkDkim(
  facts: SenderFacts,
  header: readonly HeaderField[],
  authors: AuthorDomains,
  lookup: DnsLookup,
  budgetMs: number,
): Promise<DkimCheck> {
  // Without a signature nothing is read of the body, and nothing is asked.
  if (!header.some(({ name }) => SIGNATURE_FIELD.test(name))) return UNSIGNED;
  const asking = boundedLookup(lookup, budgetMs);
  try {
    const { kept, dropped } = chooseSignatures(header, authors);
    // All keys in parallel: one slow name server must not use up the time of the other signatures.
    for (const { domain, selector } of kept) void asking.lookup(`${selector}._domainkey.${domain}`, 'TXT');
    const bytes = withoutFields(facts.received, dropped);
    const verified = await dkimVerify(bytes.length > CHUNK_BYTES ? Readable.from(chunksOf(bytes)) : bytes, {
      resolver: asking.lookup,
      sender: facts.envelopeFrom,
    });
    const coverage = coverageOf(facts.received, header);
    const checked = verified.results.map((each) => signatureOf(each, coverage));
    return {
      signatures: checked.flatMap(({ signature }) => (signature === undefined ? [] : [signature])),
      identifiers: checked.flatMap(({ signature, counts }) =>
        counts ? identifierOf(signature?.domain, signature?.result ?? 'none') : [],
      ),
      infos: checked.map(({ info }) => info),
      arc: verified.arc,
      unsigned: 'none',
    };
  } catch {
    return { signatures: [], identifiers: [], infos: ['dkim=permerror'], arc: undefined, unsigned: 'permerror' };
  } finally {
    asking.end();
  }
}

interface CheckedSignature {
  /** Undefined: it is none. */
  readonly signature: DkimCheck['signatures'][number] | undefined;
  /** Whether it covers what a reader sees. */
  readonly counts: boolean;
  readonly info: string;
}

/**
 * What a signature proves. One that is valid and does not cover what a reader sees is not acceptable: `policy`. A body
 * that was changed is a failure; mailauth calls it neutral (RFC 8601 §2.7.1, RFC 6376 §6.1.3).
 */
function signatureOf(
  { status, signingDomain, selector, info, bodyHash, bodyHashExpecting, signingHeaders }: DkimResult['results'][number],
  coverage: ReturnType<typeof coverageOf>,
): CheckedSignature {
  if (signingDomain === undefined) return { signature: undefined, counts: false, info };
  const signed = (signingHeaders?.keys ?? '').split(':').map((name) => name.trim().toLowerCase());
  const { unsigned, problem } = coverage(signed, status.underSized ?? 0);
  const verified = verdictOf(status.result);
  const isChanged = verified === 'neutral' && bodyHashExpecting !== undefined && bodyHash !== bodyHashExpecting;
  const result = isChanged ? 'fail' : verified === 'pass' && problem !== undefined ? 'policy' : verified;
  const said = result === 'policy' && verified === 'pass' ? `policy (${problem})` : result;
  return {
    signature: { result, domain: signingDomain, selector: selector ?? '', unsigned },
    counts: problem === undefined,
    info: info.replace(/^dkim=[a-z]+/, `dkim=${said}`),
  };
}

/** A signature, or part of an ARC set (RFC 8617 §4.1). */
const SIGNATURE_FIELD = /^(?:dkim-signature|arc-)/;

/** As mailauth answers for a message without signatures. */
const UNSIGNED: DkimCheck = {
  signatures: [],
  identifiers: [],
  infos: ['dkim=none (message not signed)'],
  arc: undefined,
  unsigned: 'none',
};

interface SignatureField {
  readonly field: HeaderField;
  readonly domain: string;
  readonly selector: string;
}

/** The first signatures, those of the authors' domains before all others: added signatures cannot displace them. */
function chooseSignatures(
  header: readonly HeaderField[],
  { domains }: AuthorDomains,
): { readonly kept: readonly SignatureField[]; readonly dropped: readonly HeaderField[] } {
  const signatures = header
    .filter(({ name }) => name === 'dkim-signature')
    .map((field) => ({ field, domain: tagOf(field.value, 'd'), selector: tagOf(field.value, 's') }));
  const isRelated = (domain: string) =>
    domains.some((author) => author === domain || author.endsWith(`.${domain}`) || domain.endsWith(`.${author}`));
  const byRelation = signatures.toSorted((a, b) => Number(isRelated(b.domain)) - Number(isRelated(a.domain)));
  return {
    kept: byRelation.slice(0, DKIM_SIGNATURES_MAX),
    dropped: byRelation.slice(DKIM_SIGNATURES_MAX).map(({ field }) => field),
  };
}

const tagOf = (value: string, tag: 'd' | 's'): string =>
  new RegExp(`(?:^|;)\\s*${tag}\\s*=\\s*([^;\\s]{1,253})`, 'i').exec(value)?.[1]?.toLowerCase() ?? '';

async function checkArc(
  chain: DkimResult['arc'] | undefined,
  { remoteAddress }: SenderFacts,
  lookup: DnsLookup,
  budgetMs: number,
): Promise<{ readonly result: AuthVerdict; readonly infos: readonly string[] }> {
  if (chain === undefined) return { result: 'none', infos: [] };
  const asking = boundedLookup(lookup, budgetMs);
  try {
    // Without its hidden memory of keys: those lookups ended with the time of DKIM.
    const { status, info } = await arc(
      { ...chain, chain: chain.chain || [] },
      { resolver: asking.lookup, ip: remoteAddress },
    );
    return { result: verdictOf(status.result), infos: info ? [info] : [] };
  } catch {
    return { result: 'permerror', infos: ['arc=permerror'] };
  } finally {
    asking.end();
  }
}

/** Worst first: a message with several authors is as trustworthy as the least of them. */
const CONSEQUENCES: readonly DmarcConsequence[] = ['unauthenticated', 'undecided', 'none'];
const RESULTS: readonly AuthVerdict[] = ['fail', 'temperror', 'none', 'pass'];

interface CombinedVerdict {
  readonly result: AuthVerdict;
  readonly domain: string | null;
  readonly policy: string | null;
  readonly consequence: DmarcConsequence;
  readonly infos: readonly string[];
}

/** @param repeated names of fields that occur more often than they may */
function together(
  { excessive }: AuthorDomains,
  repeated: readonly string[],
  verdicts: readonly DmarcVerdict[],
): CombinedVerdict {
  const infos = verdicts.map(({ info }) => info);
  const [worst] = verdicts.toSorted(
    (a, b) =>
      CONSEQUENCES.indexOf(a.consequence) - CONSEQUENCES.indexOf(b.consequence) ||
      RESULTS.indexOf(a.result) - RESULTS.indexOf(b.result),
  );
  const domain = worst?.domain ?? null;
  const policy = worst?.policy ?? null;
  const broken = (reason: string): CombinedVerdict => ({
    result: 'permerror',
    domain,
    policy,
    consequence: 'unauthenticated',
    infos: [`dmarc=permerror (${reason})`],
  });
  if (excessive) return broken('too many authors');
  // There is nobody whose policy could be asked for (RFC 5322 §3.6, RFC 9989 §5.3.1).
  if (worst === undefined) return broken('no author');
  if (repeated.length === 0) return { ...worst, infos };
  // A signature covers one of the fields, a reader may show the other: nothing is proved about either (RFC 9989 §11.5).
  const enforced = verdicts.find((each) => each.policy === 'quarantine' || each.policy === 'reject');
  return {
    result: 'permerror',
    domain: enforced?.domain ?? domain,
    policy: enforced?.policy ?? policy,
    consequence: enforced === undefined ? worst.consequence : 'unauthenticated',
    infos: [`dmarc=permerror (given more than once: ${repeated.join(', ')}) header.from=${worst.domain}`],
  };
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

const verdictOf = (result: string): AuthVerdict =>
  result === 'temperr' ? 'temperror' : (AUTH_VERDICTS.find((verdict) => verdict === result) ?? 'none');

/** A line is broken at the first space after so many characters (RFC 5322 §2.2.3). */
const FOLD_AFTER_CHARACTERS = 100;

const authenticationResultsField = (hostname: string, infos: readonly string[]): string =>
  `Authentication-Results: ${[hostname, ...infos.map(folded)].join(';\r\n ')}\r\n`;

function folded(info: string): string {
  const lines = [''];
  for (const word of info.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line.length > FOLD_AFTER_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\r\n  ');
}

interface AuthorDomains {
  /** In DNS form. */
  readonly domains: readonly string[];
  /** There are more than are checked. */
  readonly excessive: boolean;
}

const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;
const LIKE_AN_ADDRESS = /@([^\s@<>()[\],;:"\\]{1,253})/g;

export function authorDomains(header: readonly HeaderField[]): AuthorDomains {
  const from = header.filter(({ name }) => name === 'from');
  const bytes = from.reduce((sum, { value }) => sum + value.length, 0);
  if (bytes > AUTHOR_FIELDS_MAX_BYTES) return { domains: [], excessive: true };
  const all = [...new Set(from.flatMap(({ value }) => domainsOf(value)))];
  return { domains: all.slice(0, AUTHOR_DOMAINS_MAX), excessive: all.length > AUTHOR_DOMAINS_MAX };
}

/**
 * The usual form of an author: a name of plain words and one address, in which no parser finds another address. It
 * contains no quotes, comments, lists, encoded words or non-ASCII characters.
 */
const PLAIN_AUTHOR = /^(?:[A-Za-z0-9][A-Za-z0-9 .'_-]* )?<[A-Za-z0-9._+-]+@([A-Za-z0-9.-]+)>$/;

function domainsOf(value: string): string[] {
  const plain = PLAIN_AUTHOR.exec(value)?.[1]?.toLowerCase();
  if (plain !== undefined && DOMAIN.test(plain)) return [plain];
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const addresses = [
    ...readableAddresses(value).map(({ address }) => address),
    ...addressparser(text, { flatten: true }).map(({ address }) => address),
  ];
  const domains = addresses.flatMap((address) => domainsAfterAt(address));
  if (domains.length > 0) return domains;
  return [...decodeWords(value).matchAll(LIKE_AN_ADDRESS)].flatMap(([, domain = '']) => domainsAfterAt(`@${domain}`));
}

/** Of a damaged address with several `@` each one that may be meant. */
const domainsAfterAt = (address: string): string[] =>
  address
    .split('@')
    .slice(1)
    .map((domain) => withAsciiDomain(domain.trim()).toLowerCase().replace(/\.+$/, ''))
    .filter((domain) => DOMAIN.test(domain));
