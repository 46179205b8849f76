/**
 * MAIL and RCPT as smtp-server does not read them: quoted local parts (RFC 5321 §4.1.2), parameters that were not
 * announced (§4.1.1.11), addresses in UTF-8 (RFC 6531 §3.5).
 */
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';

export interface AddressCommand {
  readonly verb: 'MAIL' | 'RCPT';
  /** Up to the opening angle bracket. */
  readonly opening: string;
  /** Between the brackets. */
  readonly path: string;
  /** Behind the brackets, as written. */
  readonly parameters: string;
}

/** Undefined: the line has another form. */
export function readAddressCommand(line: string): AddressCommand | undefined {
  const found = /^(\s*(MAIL\s+FROM|RCPT\s+TO)\s*:\s*<)((?:"(?:[^"\\]|\\.)*"|[^<>"])*)>(.*)$/is.exec(line);
  if (found === null) return undefined;
  const [, opening = '', verb = '', path = '', parameters = ''] = found;
  return { verb: /^mail/i.test(verb) ? 'MAIL' : 'RCPT', opening, path, parameters };
}

/** Neither printed nor sent: control characters, line separators, what is no character. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\ufffd]/u;
/** A source route in front of an address is ignored (RFC 5321 §4.1.2). */
const ROUTE = /^@[^\s,:@"]+(?:,@[^\s,:@"]+)*:/;
const QUOTED = /^"((?:[^"\\]|\\.)*)"@(.+)$/s;
/** `Dot-string` of RFC 5321 §4.1.2 with the characters of RFC 6531 §3.3. */
const DOT_STRING = /^[\w!#$%&'*+/=?^`{|}~\u{80}-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u{80}-\u{10ffff}-]+)*$/u;
/** In place of a local part that smtp-server cannot read. */
const PLACEHOLDER = 'quoted';

interface PlainPath {
  /** The line with a local part that needs no quotes. */
  readonly line: string;
  /** The local part with its quotes, where it needs them; `line` has a placeholder then. */
  readonly quoted: string | undefined;
}

/**
 * The line without quotes that mean nothing: `"a.b"@x` is `a.b@x`.
 *
 * @returns undefined for an address that no reply or header field may contain
 */
export function plainPath(command: AddressCommand): PlainPath | undefined {
  const { opening, path, parameters } = command;
  if (UNSAFE.test(path)) return undefined;
  const [, inside, domain = ''] = QUOTED.exec(path.replace(ROUTE, '')) ?? [];
  const withPath = (local: string) => `${opening}${local}@${domain}>${parameters}`;
  if (inside === undefined) return { line: `${opening}${path}>${parameters}`, quoted: undefined };
  const local = inside.replace(/\\(.)/gs, '$1');
  if (DOT_STRING.test(local)) return { line: withPath(local), quoted: undefined };
  return { line: withPath(PLACEHOLDER), quoted: `"${local.replace(/[\\"]/g, '\\$&')}"` };
}

/** The address of a parsed line: its local part as it was written, its domain as DNS knows it. */
export function readAddress(address: string, quoted: string | undefined): string {
  const full = quoted === undefined ? address : quoted + address.slice(address.lastIndexOf('@'));
  return /^[\x20-\x7e]*$/.test(full) ? full : withAsciiDomain(full);
}

/** Parameters by verb. */
export type KnownParameters = Readonly<Record<AddressCommand['verb'], readonly string[]>>;

const KEYWORD = /^[A-Za-z0-9][A-Za-z0-9-]*(?==|$)/;

/**
 * What is wrong with the parameters, or with an address in UTF-8; undefined: nothing.
 *
 * @param known those that EHLO announces
 * @param isUtf8 whether MAIL of this transaction had SMTPUTF8
 * @returns reply code, and text with its enhanced status code
 */
export function parameterFault(
  { verb, path, parameters }: AddressCommand,
  known: KnownParameters,
  isUtf8: boolean,
): readonly [code: number, text: string] | undefined {
  const given = parameters.trim() === '' ? [] : parameters.trim().split(/[ \t]+/);
  const keywords = given.map((parameter) => KEYWORD.exec(parameter)?.[0].toUpperCase());
  if (keywords.includes(undefined) || (given.length > 0 && !/^[ \t]/.test(parameters)))
    return [501, '5.5.4 The parameters cannot be read'];
  const unknown = keywords.find((keyword) => keyword !== undefined && !known[verb].includes(keyword));
  if (unknown !== undefined) return [555, `5.5.4 ${unknown} is not a parameter of ${verb} here`];
  const asked = verb === 'MAIL' ? keywords.includes('SMTPUTF8') : isUtf8;
  if (!asked && /[^\x00-\x7f]/.test(path))
    return [553, '5.6.7 An address in UTF-8 needs the parameter SMTPUTF8 of MAIL'];
  return undefined;
}
