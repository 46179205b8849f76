/**
 * Mail to postmaster and abuse of a domain served here: stored once, and sent to each owner as a notice with the
 * message attached. Automatically sent mail is only listed in the API, so that a returned notice does not create
 * another one.
 */
import { createHash } from 'node:crypto';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import {
  countRoleMail,
  findRoleOrganization,
  insertRoleMail,
  ownerAddresses,
} from '#db/queries/mailboxes/role-mail.ts';
import { insertMemberNotices, keepNotices } from '#db/queries/notices/member-notices.ts';
import { deliveryAddress, isBarePostmaster, ROLE_MAIL_PER_HOUR_MAX, roleOf } from '#domain/mail/mailbox-address.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import type { SuspendedReceive } from '#domain/organizations/suspension.ts';

/** A role address of a domain served here. */
export interface RoleAddress {
  /** With its domain, without plus-tag. */
  readonly address: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** How mail is answered while the organization is suspended; null: it is not. */
  readonly suspendedReceive: SuspendedReceive | null;
}

export interface RoleMail {
  /** Identifies a message from the sender: the same message again is a repetition. */
  readonly received: Buffer;
  /** The text for owners. */
  readonly bytes: Buffer;
  readonly from: string;
  readonly subject: string;
  readonly preview: string;
  /** Written by a machine (RFC 3834 §5), or without a sender to answer. */
  readonly isAutomatic: boolean;
  /** It fails the DMARC policy of its author. */
  readonly isUnauthenticated: boolean;
}

type RoleMailOutcome =
  | { readonly kind: 'taken'; readonly notices: readonly NewMemberNotice[] }
  /** The organization has reached the limit of messages that are forwarded in an hour. */
  | { readonly kind: 'too-many' };

const HOUR_MS = 3_600_000;

/** Undefined: no role of a domain served here. Queries the database only if the local part is that of a role. */
export async function findRoleAddress(
  sql: Sql,
  defaultDomain: string,
  given: string,
): Promise<RoleAddress | undefined> {
  const full = isBarePostmaster(given) ? `postmaster@${defaultDomain}` : given;
  if (roleOf(full) === undefined) return undefined;
  const address = withAsciiDomain(deliveryAddress(full));
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const organization = await findRoleOrganization(sql, defaultDomain, domain, address);
  return organization === undefined ? undefined : { address, ...organization };
}

/** Call it in a transaction, and send the notices after it. */
export async function takeRoleMail(
  sql: Sql,
  role: RoleAddress,
  mail: RoleMail,
  nowMs: number,
): Promise<RoleMailOutcome> {
  const { organizationId, address } = role;
  const now = new Date(nowMs);
  const id = newId('roleMail', nowMs);
  const contentHash = createHash('sha256').update(mail.received).digest();
  if (!(await insertRoleMail(sql, { id, organizationId, address, contentHash, bytes: mail.bytes, now })))
    return { kind: 'taken', notices: [] };
  if ((await countRoleMail(sql, organizationId, new Date(nowMs - HOUR_MS))) > ROLE_MAIL_PER_HOUR_MAX)
    return { kind: 'too-many' };
  const notices = (await ownerAddresses(sql, organizationId)).map((recipient) => ({
    id: newId('notice', nowMs),
    organizationId,
    kind: 'role_mail' as const,
    targetId: id,
    recipient,
    subject: oneLine(`${mail.isUnauthenticated ? '[not authenticated] ' : ''}Mail to ${address}: ${mail.subject}`),
    text: textOf(role, mail),
  }));
  if (notices.length > 0) await insertMemberNotices(sql, notices, now);
  if (!mail.isAutomatic) return { kind: 'taken', notices };
  await keepNotices(
    sql,
    notices.map((notice) => notice.id),
    'kept here only: automatically sent mail is not forwarded',
    now,
  );
  return { kind: 'taken', notices: [] };
}

const textOf = ({ address, organizationName }: RoleAddress, mail: RoleMail): string =>
  [
    `This mail was sent to ${address}. You get it because you are an owner of ${organizationName}, to which this address belongs.`,
    ...(mail.isUnauthenticated
      ? ['Its author could not be verified: the message fails the DMARC policy of the domain in From.']
      : []),
    `From: ${oneLine(mail.from)}\nSubject: ${oneLine(mail.subject)}`,
    mail.preview,
    'The original message is attached. Its author is not known: open links and attachments with care. To reply, write to its author; nobody reads replies to this notice.',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
