/**
 * Maps addresses to mailboxes, for every protocol that delivers.
 *
 * Found mailboxes are cached for seconds, misses never: a mailbox accepts mail from its creation on. Cached data may be
 * seconds old, so the write transaction checks status and quota again.
 */

import { type HeaderIndex, headerIndex } from '@agent-mailbox/mail-store/header-index';
import { envelopeSearchText } from '@agent-mailbox/mail-store/search-text';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { isServedDomain } from '#core/mailboxes/domains.ts';
import { countedCache } from '#core/platform/caching/counted-cache.ts';
import type { Sql } from '#db/database.ts';
import { RECEIVES_AS } from '#db/queries/mailboxes/status-now.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';
import type { ScreeningMode } from '#domain/mail/screening.ts';
import type { MailboxStatus, UnauthenticatedMail } from '#domain/organizations/mailboxes.ts';
import type { EnvelopeMailbox, EnvelopeOrganization } from '#domain/webhooks/event-types.ts';

export interface Recipient {
  readonly mailbox: EnvelopeMailbox;
  readonly organization: EnvelopeOrganization;
  readonly status: MailboxStatus;
  readonly unauthenticatedMail: UnauthenticatedMail;
  /** Of the mailbox, or of its organization. */
  readonly screening: ScreeningMode;
  readonly inboxId: number;
  readonly junkId: number;
  /** As last read, plus what this process has delivered since: a full mailbox is reported at RCPT, not after DATA. */
  bytesUsed: number;
  readonly quotaBytes: number;
}

export interface RecipientDirectory {
  /** The mailbox an address (with or without plus-tag) is delivered to. */
  find(address: string, fresh?: 'fresh'): Promise<Recipient | undefined>;
  /** Whether mail for this domain is delivered here, whatever the local part. */
  servesDomain(domain: string): Promise<boolean>;
}

const REMEMBER_MS = 5_000;
const REMEMBERED_MAX = 50_000;

interface RecipientRow {
  id: string;
  name: string;
  address: string;
  local_part: string;
  domain: string;
  status: MailboxStatus;
  unauthenticated_mail: UnauthenticatedMail;
  expires_at: Date | null;
  screening: ScreeningMode;
  organization_id: string;
  organization_name: string;
  slug: string;
  inbox_id: number;
  junk_id: number;
  bytes_used: number;
  quota_bytes: number;
}

export function recipientDirectory(db: Sql, defaultDomain: string, now: () => number): RecipientDirectory {
  const remembered = countedCache<{ recipient: Recipient; until: number }>('recipients', REMEMBERED_MAX);

  async function read(address: string): Promise<Recipient | undefined> {
    const [row] = await db.query<RecipientRow>(FIND_RECIPIENT, [address]);
    if (row === undefined) return undefined;
    const recipient: Recipient = {
      mailbox: { id: row.id, name: row.name, address: row.address, localPart: row.local_part, domain: row.domain },
      organization: { id: row.organization_id, name: row.organization_name, slug: row.slug },
      status: row.status,
      unauthenticatedMail: row.unauthenticated_mail,
      screening: row.screening,
      inboxId: row.inbox_id,
      junkId: row.junk_id,
      bytesUsed: row.bytes_used,
      quotaBytes: row.quota_bytes,
    };
    const until = Math.min(now() + REMEMBER_MS, row.expires_at?.getTime() ?? Infinity);
    remembered.set(address, { recipient, until });
    return recipient;
  }

  return {
    async find(address, fresh) {
      const key = deliveryAddress(address);
      const known = fresh === undefined ? remembered.get(key, ({ until }) => until > now()) : undefined;
      if (known !== undefined) return known.recipient;
      remembered.delete(key);
      return read(key);
    },
    servesDomain: (domain) => isServedDomain(db, defaultDomain, domain),
  };
}

const FIND_RECIPIENT = `
  select x.id, x.name, x.address, x.local_part, x.domain, ${RECEIVES_AS} as status, x.unauthenticated_mail, x.expires_at,
         coalesce(x.screening, o.settings ->> 'screening', 'off') as screening,
         o.id as organization_id, o.name as organization_name, o.slug,
         inbox.id as inbox_id, junk.id as junk_id, c.bytes_used, c.quota_bytes
    from mailboxes x
    join organizations o on o.id = x.organization_id
    join mailbox_counter c on c.mailbox_id = x.id
    join folder inbox on inbox.mailbox_id = x.id and inbox.special_use = '\\Inbox' and inbox.deleted_at is null
    join folder junk on junk.mailbox_id = x.id and junk.special_use = '\\Junk' and junk.deleted_at is null
   where x.address = $1 and x.deleted_at is null`;

export interface ListedHeader extends HeaderIndex {
  /** `SearchText.envelope`; null if it is long: then it is searched in `message_text`, or in the bytes. */
  readonly envelopeText: string | null;
}

/** Rows stay small: four of them in a page of the table. */
const ENVELOPE_TEXT_MAX_BYTES = 1_536;
/** Of a longer header no envelope text is made: it would rarely be short enough. */
const HEADER_MAX_BYTES = 65_536;

/**
 * Takes time in proportion to the header.
 *
 * @param bytes the message, or its beginning with the whole header
 */
export function listedHeader(bytes: Uint8Array, root: PartNode): ListedHeader {
  const fields = headerFields(bytes, root.header, root.body);
  const text = root.body - root.header > HEADER_MAX_BYTES ? '' : envelopeSearchText(fields);
  const fits = text !== '' && Buffer.byteLength(text) <= ENVELOPE_TEXT_MAX_BYTES;
  return { ...headerIndex(bytes, root, fields), envelopeText: fits ? text : null };
}
