/**
 * Further addresses of a mailbox. An alias is an address of its own, or the mailbox's address with a tag
 * (`bot+shop@x.test`). Each can have a list of senders.
 *
 *   enabled ◀──▶ disabled     answers 550 while it is disabled or has expired
 *      └─────┬──────┘
 *         dropped             answers 550 from then on, for {@link ALIAS_REUSE_AFTER_DAYS} days at least
 */
import { localPartProblem } from './mailbox-address.ts';

/** What happens to mail of a sender that the list of an alias does not name. */
export const UNLISTED_MAIL = ['refuse', 'hold'] as const;
export type UnlistedMail = (typeof UNLISTED_MAIL)[number];

/** Addresses and domains in the list of an alias. */
export const ALIAS_SENDERS_MAX = 50;
export const ALIAS_NOTE_MAX = 200;
/** Aliases that one mailbox may make in a day, whoever makes them: dropped ones still cost a row. */
export const ALIASES_PER_MAILBOX_AND_DAY = 200;
/** Of which tokens may make as many: a dropped address is refused to everybody else for a time. */
export const ALIASES_BY_TOKEN_AND_DAY = 40;
/** Aliases that tokens of a mailbox may have made and not dropped, unless the organization chose another number. */
export const ALIASES_BY_TOKEN_DEFAULT = 10;
export const ALIASES_BY_TOKEN_MAX = 100;
/** A dropped address is not given to anybody for this time, as that of a deleted mailbox. */
export const ALIAS_REUSE_AFTER_DAYS = 30;
/** Of a generated local part: 80 bits, so that nobody guesses it. */
export const RANDOM_LOCAL_PART_BYTES = 10;

const BASE32 = 'abcdefghijkmnpqrstuvwxyz23456789';
const BITS_PER_CHARACTER = 5;

/** A local part that nobody can guess. @param bytes random ones */
export function randomLocalPart(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let bits = bytes.length * 8; bits > 0; bits -= BITS_PER_CHARACTER) {
    text = BASE32.charAt(Number(value & 31n)) + text;
    value >>= BigInt(BITS_PER_CHARACTER);
  }
  return text;
}

/** Letters, digits, dots, hyphens and underscores, as in a local part; nothing that reads as another tag. */
const TAG = /^[a-z0-9_](?:[a-z0-9_-]|\.(?!\.)){0,31}$/;

/** What is wrong with the tag of an alias (already lower-cased); undefined: nothing. */
export const tagProblem = (tag: string): string | undefined =>
  TAG.test(tag) && !tag.endsWith('.')
    ? undefined
    : 'may contain 1 to 32 letters, digits, hyphens, underscores and single dots, with no dot first or last';

/** Words that make an address look like one of a department, which no agent may speak for. */
const OFFICIAL_WORDS = new Set(
  'abuse account accounting accounts admin administrator alert alerts auth bank banking billing board ceo cfo compliance contact coo cto customer dmarc employment finance fraud help helpdesk hello hostmaster hr info invoice invoices it jobs law legal login mail mailer marketing news noc noreply notification notifications office ops order orders owner password pay payment payments payroll postmaster press privacy recovery refund refunds reply root sales secure security service ssl staff support sysadmin system tax team tls treasury trust verification verify webmaster'.split(
    ' ',
  ),
);

/** Characters that are read as others; `1`, `i` and `l` as each other. */
const READ_AS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  i: 'l',
};
const asRead = (text: string): string => text.replaceAll(/[0134578i]/g, (each) => READ_AS[each] ?? each);

/** As they are read, with the word that a person wrote. */
const OFFICIAL_AS_READ = new Map([...OFFICIAL_WORDS].map((word) => [asRead(word), word]));
/** Longer words make an address look official wherever they are in it. */
const OFFICIAL_ANYWHERE_CHARACTERS = 7;

/**
 * What is wrong with a local part that the token of a mailbox chose: besides that of others, addresses that look official
 * (`billing`, `security-team`, `bi1ling`). A random one is always free.
 */
export function tokenLocalPartProblem(localPart: string): string | undefined {
  const problem = localPartProblem(localPart);
  if (problem !== undefined) return problem;
  const text = asRead(localPart);
  const joined = text.replaceAll(/[._-]/g, '');
  const words = [
    joined,
    ...text.split(/[._-]+/),
    ...localPart.split(/[._-]+/).map((word) => asRead(word.replace(/\d+$/, ''))),
  ];
  const found =
    words.map((word) => OFFICIAL_AS_READ.get(word)).find((word) => word !== undefined) ??
    [...OFFICIAL_AS_READ].find(([read]) => read.length >= OFFICIAL_ANYWHERE_CHARACTERS && joined.includes(read))?.[1];
  return found === undefined ? undefined : `looks like an official address ("${found}"): a person can make it`;
}

/** Whether the list of an alias names an author: by the address, or by its domain or one above it. */
export const isListed = (senders: readonly string[], author: string): boolean =>
  senders.some((each) => {
    if (each.includes('@')) return each === author;
    const domain = author.slice(author.lastIndexOf('@') + 1);
    return author.includes('@') && (domain === each || domain.endsWith(`.${each}`));
  });
