/**
 * What the list of senders of an alias does to a message. It names authors, who count if it is proven that the mail is
 * theirs: anybody can write an address into From.
 *
 *   no list, not locked to the first ──▶ pass
 *   no list, locked to the first ──────▶ pass, and a proven author whose mail arrives becomes the list
 *   a list ────────────────────────────▶ pass if it names the proven author, else refuse or hold
 */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Sql } from '#db/database.ts';
import { isListed, type UnlistedMail } from '#domain/mail/aliases.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { Recipient } from './recipients.ts';

/** `gone`: it was dropped or disabled meanwhile. */
export type AliasVerdict = 'pass' | 'gone' | UnlistedMail;

interface AliasRow {
  readonly senders: readonly string[];
  readonly otherwise: UnlistedMail;
}

const OPEN = `deleted_at is null and enabled and (expires_at is null or expires_at > now())`;
const COLUMNS = `senders, otherwise`;
const SYSTEM: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

/**
 * Reads the list as it is now.
 *
 * @param author empty: there is none, or there are several
 */
export async function askAlias(
  sql: Sql,
  { alias }: Pick<Recipient, 'alias'>,
  author: string,
  proven: boolean,
): Promise<AliasVerdict> {
  if (alias === null) return 'pass';
  const [row] = await sql.query<AliasRow>(`select ${COLUMNS} from mailbox_alias where id = $1 and ${OPEN}`, [alias.id]);
  if (row === undefined) return 'gone';
  return verdictOf(row, author, proven);
}

/**
 * Makes the author of a message that is about to be delivered the list of an alias that is locked to the first. Mail that
 * waits for a person locks nothing.
 *
 * @returns whether the message may still come: another author may have been first
 */
export async function lockToAuthor(
  sql: Sql,
  recipient: Pick<Recipient, 'alias' | 'organization'>,
  author: string,
  proven: boolean,
): Promise<boolean> {
  const { alias, organization } = recipient;
  if (alias === null || !alias.hasList || !proven) return true;
  const [locked] = await sql.query<{ address: string }>(LOCK_TO, [alias.id, author]);
  if (locked === undefined) return (await askAlias(sql, recipient, author, proven)) === 'pass';
  await recordAudit(sql, SYSTEM, {
    organizationId: organization.id,
    action: 'alias.locked',
    targetId: alias.id,
    details: { address: locked.address, author },
  });
  return true;
}

const LOCK_TO = `
  update mailbox_alias set senders = array[$2], updated_at = now()
   where id = $1 and senders = '{}' and lock_to_first and ${OPEN} returning address`;

const verdictOf = ({ senders, otherwise }: AliasRow, author: string, proven: boolean): AliasVerdict =>
  senders.length === 0 || (proven && isListed(senders, author)) ? 'pass' : otherwise;
