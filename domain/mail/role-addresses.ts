/**
 * Addresses every domain has, without a mailbox: mail to them is sent to the owners of the organization (RFC 5321
 * §4.5.1, RFC 2142 §2 and §4).
 */
export const ROLE_NAMES = ['postmaster', 'abuse'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

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
