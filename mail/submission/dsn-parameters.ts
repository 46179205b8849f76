/**
 * Parameters of MAIL and RCPT by which a client asks for delivery notices (RFC 3461 §4). smtp-server parses them; this
 * file validates them further, and defines how they are stored.
 */
import type { SMTPServerAddress } from 'smtp-server';
import {
  ENVELOPE_ID_MAX_CHARACTERS,
  type MessageNotices,
  NOTIFY_VALUES,
  ORIGINAL_RECIPIENT_MAX_CHARACTERS,
  RETURNED_PARTS,
  type RecipientNotices,
} from '#domain/webhooks/delivery-notices.ts';
import { readAddressCommand } from '#mail/smtp/address-command.ts';

/** RFC 3461 §4: printable ASCII but `+` and `=`, which are written as `+` and two upper-case hexadecimal digits. */
const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/;
/** An address type, then its address; `utf-8` may have unencoded non-ASCII characters (RFC 6533 §3). */
const ORIGINAL_RECIPIENT =
  /^(?:[uU][tT][fF]-8;(?:[!-*,-<>-~\u{a0}-\u{10ffff}]|\+[0-9A-F]{2})+|[!-*,-:<>-~]+;(?:[!-*,-<>-~]|\+[0-9A-F]{2})+)$/u;
/** Characters of decoded values (RFC 3461 §4.2, §4.4). */
const PRINTABLE = /^[ -~\u{a0}-\u{10ffff}]+$/u;

const decoded = (xtext: string): string =>
  xtext.replace(/\+([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

const RULES: Readonly<Record<string, Readonly<Record<string, (value: string) => string | undefined>>>> = {
  MAIL: {
    RET: (value) => (RETURNED_PARTS.some((part) => part === value.toUpperCase()) ? undefined : 'RET is FULL or HDRS'),
    ENVID(value) {
      if (value.length > ENVELOPE_ID_MAX_CHARACTERS)
        return `ENVID has at most ${ENVELOPE_ID_MAX_CHARACTERS} characters`;
      return XTEXT.test(value) && PRINTABLE.test(decoded(value)) ? undefined : 'ENVID is xtext of printable characters';
    },
    NOTIFY: () => 'NOTIFY is a parameter of RCPT',
    ORCPT: () => 'ORCPT is a parameter of RCPT',
  },
  RCPT: {
    NOTIFY(value) {
      const values = value.toUpperCase().split(',');
      const known = values.every((each) => NOTIFY_VALUES.some((allowed) => allowed === each));
      return known && (values.length === 1 || !values.includes('NEVER'))
        ? undefined
        : 'NOTIFY is NEVER, or a list of SUCCESS, FAILURE and DELAY';
    },
    ORCPT(value) {
      if (value.length > ORIGINAL_RECIPIENT_MAX_CHARACTERS)
        return `ORCPT has at most ${ORIGINAL_RECIPIENT_MAX_CHARACTERS} characters`;
      return ORIGINAL_RECIPIENT.test(value) && PRINTABLE.test(decoded(value))
        ? undefined
        : 'ORCPT is an address type, a semicolon and an address as xtext';
    },
    RET: () => 'RET is a parameter of MAIL',
    ENVID: () => 'ENVID is a parameter of MAIL',
  },
};

/** What is wrong with the parameters of a command line, or undefined. */
export function dsnFault(line: string): string | undefined {
  const { verb = '', parameters = '' } = readAddressCommand(line) ?? {};
  const rules = RULES[verb] ?? {};
  const seen = new Set<string>();
  for (const parameter of parameters.split(/\s+/)) {
    const [, keyword = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? [];
    const key = keyword.toUpperCase();
    if (!Object.hasOwn(rules, key)) continue;
    if (seen.has(key)) return `${key} is given twice`;
    seen.add(key);
    const fault = rules[key]?.(value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const argument = (address: Pick<SMTPServerAddress, 'args'> | false, key: string): string | undefined => {
  const value: unknown = address === false ? undefined : Reflect.get(Object(address.args), key);
  return typeof value === 'string' ? value : undefined;
};

/** Of MAIL, checked before. */
export function messageNotices(sender: Pick<SMTPServerAddress, 'args'> | false): MessageNotices {
  const wanted = argument(sender, 'RET')?.toUpperCase();
  return {
    envelopeId: argument(sender, 'ENVID') ?? null,
    returned: RETURNED_PARTS.find((part) => part === wanted) ?? null,
  };
}

/** Non-ASCII characters in the encoding of RFC 6533 §3 for places that allow only ASCII. */
const inAscii = (address: string): string =>
  address.replace(/[^ -~]/gu, (character) => `\\x{${character.codePointAt(0)?.toString(16).toUpperCase()}}`);

/** Of RCPT, checked before. */
export function recipientNotices(recipient: Pick<SMTPServerAddress, 'args'>): RecipientNotices {
  const values = argument(recipient, 'NOTIFY')?.toUpperCase().split(',');
  const original = argument(recipient, 'ORCPT');
  return {
    notify: values === undefined ? null : NOTIFY_VALUES.filter((value) => values.includes(value)),
    originalRecipient: original === undefined ? null : inAscii(original),
  };
}
