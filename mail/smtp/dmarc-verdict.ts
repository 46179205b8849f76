/**
 * DMARC (RFC 9989) of one author domain. The policy is looked up at once and independently of the sender's other DNS
 * records.
 *
 *   policy: none ────────────────────────────────────────────▶ no consequence
 *   policy: its lookup fails, and no domain above enforces ──▶ no consequence (temperror)
 *   policy: quarantine | reject ─ something aligned passed ──▶ pass
 *                               ├ something aligned may yet ─▶ undecided: the client is to try again
 *                               └ nothing can ──────────────▶ unauthenticated
 */
import { type DMARCResult, dmarc } from 'mailauth';
import type { AuthVerdict } from '#mailstore/delivery/authentication-results.ts';
import { type BoundedLookup, boundedLookup, type DnsLookup } from './dns-resolver.ts';

/** A domain that SPF or a DKIM signature was checked for. */
export interface CheckedIdentifier {
  readonly domain: string;
  /** `temperror`: it might have passed, had DNS answered in time. */
  readonly result: 'pass' | 'temperror';
}

interface CheckedIdentifiers {
  readonly spf: readonly CheckedIdentifier[];
  readonly dkim: readonly CheckedIdentifier[];
}

export type DmarcConsequence = 'none' | 'unauthenticated' | 'undecided';

export interface DmarcVerdict {
  readonly result: AuthVerdict;
  /** Organizational domain, or the author's if that is not known. */
  readonly domain: string;
  readonly policy: string | null;
  readonly consequence: DmarcConsequence;
  /** Of Authentication-Results. */
  readonly info: string;
}

interface DmarcBudgets {
  readonly policyMs: number;
  readonly alignmentMs: number;
}

/** The result of mailauth; without a policy most of it is missing, despite its type. */
type Response = Partial<DMARCResult> & Pick<DMARCResult, 'status' | 'info'>;

/** RFC 9989 §4.10: a tree walk shortens a name to this many labels at its second step. */
const WALK_MAX_LABELS = 7;

/**
 * Looks up the policy now and computes the result when the other checks are done.
 *
 * @param lookup not bounded yet
 */
export function dmarcOf(
  author: string,
  lookup: DnsLookup,
  budgets: DmarcBudgets,
): (identifiers: CheckedIdentifiers) => Promise<DmarcVerdict> {
  const asking = boundedLookup(lookup, budgets.policyMs);
  // All names of the tree walk in parallel: one slow answer must not use up the time of the others.
  for (const name of walk(author)) void asking.lookup(`_dmarc.${name}`, 'TXT');

  return async (identifiers) => {
    const aligning = boundedLookup((name, type) => asking.asked(name, type) ?? lookup(name, type), budgets.alignmentMs);
    try {
      return await verdictOf(author, identifiers, asking, aligning.lookup);
    } finally {
      aligning.end();
      asking.end();
    }
  };
}

/** Names the policy may be found at: the domain and those above it. */
function walk(domain: string): string[] {
  const labels = domain.split('.');
  return labels
    .map((_, i) => labels.slice(i).join('.'))
    .filter((name, i) => i === 0 || name.split('.').length <= WALK_MAX_LABELS);
}

async function verdictOf(
  author: string,
  identifiers: CheckedIdentifiers,
  asking: BoundedLookup,
  lookup: DnsLookup,
): Promise<DmarcVerdict> {
  const evaluated = await ask(author, lookup, passing(identifiers));
  if (evaluated === undefined || evaluated.status.result === 'none') return verdict(author, evaluated, 'none', 'none');
  if (evaluated.status.result === 'pass') return verdict(author, evaluated, 'pass', 'none');
  const isTemporary = evaluated.status.result === 'temperror';
  if (evaluated.p === undefined)
    return verdict(author, evaluated, 'temperror', (await mayEnforceAbove(author, asking)) ? 'undecided' : 'none');
  // DNS did not say whether the domain exists, hence which of two policies applies: the strictest that may counts.
  const enforces = isTemporary ? await mayEnforce(author, asking) : isEnforcing(evaluated.policy);
  if (!enforces) return verdict(author, evaluated, isTemporary ? 'temperror' : 'fail', 'none');
  if (isTemporary) return verdict(author, evaluated, 'temperror', 'undecided');
  const hoped = isAllPassing(identifiers) ? evaluated : await ask(author, lookup, identifiers);
  return hoped?.status.result === 'fail'
    ? verdict(author, evaluated, 'fail', 'unauthenticated')
    : verdict(author, { ...evaluated, info: `dmarc=temperror header.from=${author}` }, 'temperror', 'undecided');
}

/** Whether the policy quarantines or rejects, as far as it could be found out without looking at the message. */
async function mayEnforce(author: string, { lookup }: BoundedLookup): Promise<boolean> {
  const response = await ask(author, lookup, { spf: [], dkim: [] });
  return response?.status.result === 'temperror'
    ? [response.p, response.sp, response.np].some(isEnforcing)
    : isEnforcing(response?.policy);
}

/** The same if the domain's own policy could not be looked up: the policies of parent domains for their subdomains. */
async function mayEnforceAbove(author: string, { lookup }: BoundedLookup): Promise<boolean> {
  const above = await Promise.all(
    walk(author)
      .slice(1)
      .map((name) => ask(name, lookup, { spf: [], dkim: [] })),
  );
  return above.some((each) => each !== undefined && [each.sp, each.np].some(isEnforcing));
}

const verdict = (
  author: string,
  response: Response | undefined,
  result: AuthVerdict,
  consequence: DmarcConsequence,
): DmarcVerdict => ({
  result,
  domain: response?.domain || author,
  policy: response?.policy ?? null,
  consequence,
  info: response?.info ?? `dmarc=${result} header.from=${author}`,
});

const isEnforcing = (policy: string | undefined): boolean => policy === 'quarantine' || policy === 'reject';

const passing = ({ spf, dkim }: CheckedIdentifiers): CheckedIdentifiers => ({
  spf: spf.filter(({ result }) => result === 'pass'),
  dkim: dkim.filter(({ result }) => result === 'pass'),
});

const isAllPassing = ({ spf, dkim }: CheckedIdentifiers): boolean =>
  [...spf, ...dkim].every(({ result }) => result === 'pass');

/** Undefined: DMARC does not apply to such a domain. */
async function ask(
  author: string,
  resolver: DnsLookup,
  { spf, dkim }: CheckedIdentifiers,
): Promise<Response | undefined> {
  const response = await dmarc({
    headerFrom: [`author@${author}`],
    spfDomains: spf.map(({ domain }) => domain),
    dkimDomains: dkim.map(({ domain }) => ({ id: domain, domain, aligned: false })),
    resolver,
  });
  return response === false ? undefined : response;
}
