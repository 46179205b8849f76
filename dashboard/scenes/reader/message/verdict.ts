import type { Meaning } from '../../../components/shown/badge.tsx';
import type { Message } from '../queries.ts';

interface Verdict {
  readonly meaning: Meaning;
  readonly words: string;
  /** The results it rests on, in the words of the protocols. */
  readonly details: readonly string[];
}

type Signature = NonNullable<Message['authentication']>['dkim']['signatures'][number];

const domainOf = (address: string): string => /@([^@>\s]+)>?$/.exec(address)?.[1]?.toLowerCase() ?? '';

/** What the checks of a sender say, for people. */
export function verdictOf({ authentication, from }: Pick<Message, 'authentication' | 'from'>): Verdict {
  if (authentication === null)
    return { meaning: 'none', words: 'Not checked: it did not come from outside by SMTP.', details: [] };
  const { spf, dkim, dmarc, arc } = authentication;
  const author = domainOf(from ?? '');
  const signers = dkim.signatures.filter(({ result }) => result === 'pass').map(({ domain }) => domain);
  const details = [
    `SPF ${spf.result}${spf.domain === null ? '' : ` (${spf.domain})`}`,
    `DKIM ${dkim.result}${dkim.signatures.map(signatureInWords).join('')}`,
    `DMARC ${dmarc.result}${dmarc.policy === null ? '' : ` (policy ${dmarc.policy})`}`,
    `ARC ${arc.result}`,
  ];
  const verdict = (meaning: Meaning, words: string): Verdict => ({ meaning, words, details });
  if (dmarc.result === 'pass') {
    const signer = signers.find((domain) => isSameSite(domain, author));
    return verdict(
      'ok',
      signer === undefined
        ? `Sent by a host of ${dmarc.domain ?? author}. The sender is who it says.`
        : `Signed by ${signer}. The sender is who it says.`,
    );
  }
  if (dmarc.result === 'fail')
    return verdict('stop', `It says it is from ${author}, but ${author} did not send it. Treat it as forged.`);
  if (dmarc.result === 'temperror')
    return verdict('wait', 'The check of the sender could not be finished. Who sent it is not known.');
  if (dmarc.result === 'permerror')
    return verdict(
      'stop',
      'Its header says two things, or names no author, so no check can say who wrote it. Treat it as forged.',
    );
  const [signer] = signers;
  if (signer !== undefined && isSameSite(signer, author))
    return verdict('ok', `Signed by ${signer}, the domain of the sender.`);
  if (signer !== undefined)
    return verdict('wait', `Signed by ${signer}, not by ${author}. Nobody vouches for the name of the sender.`);
  if (spf.result === 'pass' && spf.domain !== null && isSameSite(spf.domain, author))
    return verdict('wait', `Sent by a host of ${author}, without a signature.`);
  return verdict(
    'wait',
    `Nobody vouches for the sender: ${author === '' ? 'it names none' : `${author} may be forged`}.`,
  );
}

const signatureInWords = ({ result, domain, unsigned }: Signature): string =>
  ` · ${domain} ${result}${unsigned.length === 0 ? '' : ` without ${unsigned.join(', ')}`}`;

/** One domain within the other. */
function isSameSite(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  return first === second || first.endsWith(`.${second}`) || second.endsWith(`.${first}`);
}
