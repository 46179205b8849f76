/**
 * The return path of outgoing mail, `b+<token>@<domain of the mailbox>` (variable envelope return path): reports to it
 * identify the message and, if it was sent alone, the recipient. The token is signed, so nobody can report on mail that
 * was not sent to them. It is case-insensitive and fits into 64 characters:
 *
 *   body of the message id (26) · number of the recipient (2 digits, `xx`: several) · HMAC-SHA256 (32 hexadecimal digits)
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Services } from '#core/platform/process/services.ts';
import { pepperKey } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { ID_PREFIXES } from '#domain/ids.ts';

export interface ReturnPath {
  readonly messageId: string;
  /** Number of the recipient; null if several were sent in one transaction. */
  readonly recipient: number | null;
}

/** Of a message that is known here. */
export interface KnownReturnPath extends ReturnPath {
  /** Address of the mailbox that sent it. */
  readonly address: string;
}

const MAC_CHARACTERS = 32;
const RETURN_PATH = /^b\+([0-9a-z]{26})(\d\d|xx)([0-9a-f]{32})@/i;

const macOf = (pepper: Uint8Array, content: string): string =>
  createHmac('sha256', pepperKey(pepper)).update(`return-path\0${content}`).digest('hex').slice(0, MAC_CHARACTERS);

export function returnPathOf(pepper: Uint8Array, domain: string, { messageId, recipient }: ReturnPath): string {
  const number = recipient === null ? 'xx' : String(recipient).padStart(2, '0');
  const content = messageId.slice(ID_PREFIXES.message.length) + number;
  return `b+${content}${macOf(pepper, content)}@${domain}`;
}

function readReturnPath(pepper: Uint8Array, address: string): ReturnPath | undefined {
  const [, body = '', number = '', mac = ''] = RETURN_PATH.exec(address.toLowerCase()) ?? [];
  if (mac === '' || !timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(pepper, body + number)))) return undefined;
  return { messageId: ID_PREFIXES.message + body, recipient: number === 'xx' ? null : Number(number) };
}

/** Undefined: an ordinary address, a forged one, or one of a message that no longer exists. */
export async function findReturnPath(
  { db, pepper }: { readonly db: Sql } & Pick<Services, 'pepper'>,
  address: string,
): Promise<KnownReturnPath | undefined> {
  const path = readReturnPath(pepper, address);
  if (path === undefined) return undefined;
  const [row] = await db.query<{ address: string }>(
    `select b.address from outbound_message m join mailboxes b on b.id = m.mailbox_id where m.id = $1 and b.domain = $2`,
    [path.messageId, address.slice(address.lastIndexOf('@') + 1).toLowerCase()],
  );
  return row === undefined ? undefined : { ...path, address: row.address };
}
