/** Addresses of people to write to. */
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
