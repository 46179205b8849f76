/**
 * Addresses of mail: of people to write to, and local parts of mailboxes: which are allowed, which are reserved, which belong to a role, how
 * one is generated.
 */
import { ADDRESS_MAX_CHARACTERS } from '#domain/sending/outbound.ts';

const LOCAL = /^[^\s"(),:;<>@[\\\]\p{Cc}]{1,64}$/u;
const DOMAIN =
  /^(?=.{1,253}$)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;

/**
 * Whether mail can be addressed to it: `local@domain` without quotes, comments, spaces or control characters, so that
 * nothing of it can end a line of SMTP or a header field.
 */
export function isEmailAddress(address: string): boolean {
  const at = address.lastIndexOf('@');
  if (at < 1 || address.length > ADDRESS_MAX_CHARACTERS) return false;
  return LOCAL.test(address.slice(0, at)) && DOMAIN.test(address.slice(at + 1));
}

/** Domain of an address, in lower case. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** RFC 5321 §4.5.3.1.1. */
export const LOCAL_PART_MAX = 64;
export const MAILBOX_NAME_MAX = 200;
/** Maximum length of the purpose of a mailbox. */
export const MAILBOX_PURPOSE_MAX = 500;
/** Metadata of a mailbox: keys, key and value lengths. */
export const METADATA_KEYS_MAX = 50;
export const METADATA_KEY_MAX = 64;
export const METADATA_VALUE_MAX = 512;

/** Lower-case letters, digits, dots, hyphens and underscores; no dot first, last or twice in a row. */
const LOCAL_PART_PATTERN = '^[a-z0-9_](?:[a-z0-9_-]|\\.(?!\\.))*$';
const LOCAL_PART = new RegExp(LOCAL_PART_PATTERN);

/** Role addresses of RFC 2142 and names a stranger must not speak for. */
const RESERVED_LOCAL_PARTS = new Set([
  'abuse',
  'admin',
  'administrator',
  'bounce',
  'bounces',
  'dmarc',
  'ftp',
  'hostmaster',
  'info',
  'mailer-daemon',
  'marketing',
  'news',
  'no-reply',
  'noc',
  'noreply',
  'postmaster',
  'root',
  'sales',
  'security',
  'ssl-admin',
  'support',
  'tls-reports',
  'usenet',
  'uucp',
  'vault',
  'webmaster',
  'www',
]);

/** Of a name that is nobody's to choose, whatever its tag. */
export const isReservedAddress = (address: string): boolean =>
  RESERVED_LOCAL_PARTS.has((address.slice(0, address.lastIndexOf('@')).split('+')[0] ?? '').toLowerCase());

/** What is wrong with a local part chosen by a customer (already lower-cased); undefined: nothing. */
export function localPartProblem(localPart: string): string | undefined {
  if (localPart.length === 0 || localPart.length > LOCAL_PART_MAX) return `must have 1 to ${LOCAL_PART_MAX} characters`;
  if (!LOCAL_PART.test(localPart) || localPart.endsWith('.'))
    return 'may contain letters, digits, hyphens, underscores and single dots, with no dot first or last';
  if (RESERVED_LOCAL_PARTS.has(localPart)) return `"${localPart}" is reserved (RFC 2142)`;
  return undefined;
}

const ADJECTIVES =
  'amber bold brave bright brisk calm clear clever crisp eager early fair fancy fast fleet fresh gentle glad golden grand happy hardy honest humble jolly keen kind lively loyal lucky mellow merry mighty mild neat nimble noble patient plain polite prime proud quick quiet rapid ready royal sharp shiny silent silver simple smart smooth snowy solid spry steady still sturdy sunny super sure sweet swift tidy trusty vivid warm wise witty young zesty'.split(
    ' ',
  );
const ANIMALS =
  'ant badger bear beaver bee bison bobcat camel cobra condor coral crane cricket deer dingo dolphin dove eagle egret elk falcon ferret finch fox gecko gull hare hawk heron ibex ibis jackal jaguar kestrel kiwi koala lark lemur lion llama lynx magpie marmot marten mole moose moth newt ocelot orca osprey otter owl panda parrot pelican penguin pika plover pony puffin puma quail rabbit raven robin salmon seal shark sparrow stork swan swift tapir tern tiger toad trout turtle viper walrus weasel whale wolf wombat wren yak zebra'.split(
    ' ',
  );

/**
 * A pronounceable local part such as `calm-otter-4821`.
 *
 * @param random three numbers in [0, 1)
 */
export function generatedLocalPart(random: readonly [number, number, number]): string {
  const pick = (list: readonly string[], at: number) => list[Math.floor(at * list.length)] ?? 'calm';
  return `${pick(ADJECTIVES, random[0])}-${pick(ANIMALS, random[1])}-${String(Math.floor(random[2] * 10_000)).padStart(4, '0')}`;
}

/** Address without its plus-tag, lower-cased: `Bot+news@X.test` is delivered to `bot@x.test`. */
export function deliveryAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).toLowerCase();
  const plus = local.indexOf('+');
  return `${plus > 0 ? local.slice(0, plus) : local}@${address.slice(at + 1).toLowerCase()}`;
}

/** Whether an address is one of these; a plus-tag does not matter. @param own in lower case */
export const isOneOf = (own: readonly string[], address: string): boolean =>
  own.includes(address.toLowerCase()) || own.includes(deliveryAddress(address));

/**
 * Addresses every domain has, without a mailbox: mail to them is sent to the owners of the organization (RFC 5321
 * §4.5.1, RFC 2142 §2 and §4).
 */
const ROLE_NAMES = ['postmaster', 'abuse'] as const;
type RoleName = (typeof ROLE_NAMES)[number];

/** Largest message to a role address, bytes as received. */
export const ROLE_MAIL_MAX_BYTES = 1_048_576;
/** Messages to role addresses of one organization that are accepted in an hour: each becomes mail to every owner. */
export const ROLE_MAIL_PER_HOUR_MAX = 30;

/** `postmaster` alone, without a domain, is that of the instance (RFC 5321 §4.1.1.3). */
export const isBarePostmaster = (address: string): boolean => address.toLowerCase() === 'postmaster';

/** The role of an address at any domain; plus-tag and case are ignored. */
export function roleOf(address: string): RoleName | undefined {
  const local = address.slice(0, address.lastIndexOf('@')).toLowerCase();
  const [base] = local.split('+');
  return ROLE_NAMES.find((role) => role === base);
}
