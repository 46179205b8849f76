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
import { ALIAS_REUSE_AFTER_DAYS, type UnlistedMail } from '#domain/mail/aliases.ts';
import { deliveryAddress, domainOf, isReservedAddress } from '#domain/mail/mailbox-address.ts';
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
  /** Where its mail is filed: INBOX, or the folder of the alias. */
  readonly inboxId: number;
  readonly junkId: number;
  /** As last read, plus what this process has delivered since: a full mailbox is reported at RCPT, not after DATA. */
  bytesUsed: number;
  readonly quotaBytes: number;
  /** The alias that the address is; null: it is the mailbox's own, or unknown in a domain with a catch-all. */
  readonly alias: RecipientAlias | null;
}

/** As last read; `alias-senders.ts` reads it again for each message. */
export interface RecipientAlias {
  readonly id: string;
  /** It has listed senders, or takes the first one as its list. */
  readonly hasList: boolean;
  /** Mail of others than its listed senders is refused. */
  readonly refusesOthers: boolean;
}

export interface RecipientDirectory {
  /**
   * The mailbox an address is delivered to: a mailbox, an alias, one of them with a plus-tag, or the catch-all of the
   * domain.
   */
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
  exact: boolean;
  alias_id: string | null;
  senders: string[] | null;
  otherwise: UnlistedMail | null;
  lock_to_first: boolean | null;
  alias_expires_at: Date | null;
}

export function recipientDirectory(db: Sql, defaultDomain: string, now: () => number): RecipientDirectory {
  const remembered = countedCache<{ recipient: Recipient; until: number }>('recipients', REMEMBERED_MAX);

  async function read(address: string): Promise<Recipient | undefined> {
    const [row] = await db.query<RecipientRow>(FIND_RECIPIENT, [
      address,
      deliveryAddress(address),
      // Names of RFC 2142 and those to which certificates are confirmed: no agent speaks for them.
      isReservedAddress(address) ? '' : domainOf(address),
    ]);
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
      alias:
        row.alias_id === null
          ? null
          : {
              id: row.alias_id,
              hasList: hasList(row),
              refusesOthers: row.otherwise === 'refuse' && hasList(row),
            },
    };
    const until = Math.min(
      now() + REMEMBER_MS,
      row.expires_at?.getTime() ?? Infinity,
      row.alias_expires_at?.getTime() ?? Infinity,
    );
    // By a tag or the catch-all, until the address itself gets a mailbox or an alias: that applies at once.
    if (row.exact) remembered.set(address, { recipient, until });
    return recipient;
  }

  return {
    async find(address, fresh) {
      const key = address.toLowerCase();
      const known = fresh === undefined ? remembered.get(key, ({ until }) => until > now()) : undefined;
      if (known !== undefined) return known.recipient;
      remembered.delete(key);
      return read(key);
    },
    servesDomain: (domain) => isServedDomain(db, defaultDomain, domain),
  };
}

const hasList = (row: RecipientRow): boolean => row.lock_to_first === true || (row.senders ?? []).length > 0;

/** A dropped address stays refused for its mailbox, and for a time for the next one of that name. */
const ALIAS_COUNTS = `(a.deleted_at is null or a.deleted_at > now() - interval '${ALIAS_REUSE_AFTER_DAYS} days'
        or exists (select from mailboxes of where of.id = a.mailbox_id and of.deleted_at is null))`;

/**
 * Where an address ($1; without its plus-tag $2; its domain $3) leads: the first of these decides, also if it refuses. What
 * was dropped or deleted does not lead to the catch-all, nor do reserved names, for which $3 is empty.
 */
const PLACE = `
  select * from (
    select 0 as rank, m.id as mailbox_id, null::text as alias_id, true as open
      from mailboxes m where m.address = $1 and m.deleted_at is null
    union all
    select case when a.deleted_at is null then 1 else 2 end, a.mailbox_id, a.id,
           a.deleted_at is null and a.enabled and (a.expires_at is null or a.expires_at > now())
      from mailbox_alias a where a.address = $1 and ${ALIAS_COUNTS}
    union all
    select 3, m.id, null, m.plus_addresses from mailboxes m where $2 <> $1 and m.address = $2 and m.deleted_at is null
    union all
    select case when a.deleted_at is null then 4 else 5 end, a.mailbox_id, a.id,
           a.deleted_at is null and a.enabled and (a.expires_at is null or a.expires_at > now())
      from mailbox_alias a where $2 <> $1 and a.address = $2 and ${ALIAS_COUNTS}
    union all
    select 6, m.id, null, false from mailboxes m
     where m.address = $2 and m.deleted_at > now() - interval '${ALIAS_REUSE_AFTER_DAYS} days'
    union all
    select 7, d.catch_all_mailbox_id, null, true from domains d
     where d.name = $3 and d.status = 'verified' and d.catch_all_mailbox_id is not null
  ) as places order by rank limit 1`;

const FIND_RECIPIENT = `
  select x.id, x.name, x.address, x.local_part, x.domain, ${RECEIVES_AS} as status, x.unauthenticated_mail, x.expires_at,
         coalesce(x.screening, o.settings ->> 'screening', 'off') as screening,
         o.id as organization_id, o.name as organization_name, o.slug,
         coalesce(filed.id, inbox.id) as inbox_id, junk.id as junk_id, c.bytes_used, c.quota_bytes,
         place.rank < 2 as exact, a.id as alias_id, a.senders, a.otherwise, a.lock_to_first, a.expires_at as alias_expires_at
    from (${PLACE}) as place
    join mailboxes x on x.id = place.mailbox_id and x.deleted_at is null
    left join mailbox_alias a on a.id = place.alias_id
    left join folder filed on filed.id = a.folder_id and filed.mailbox_id = x.id and filed.deleted_at is null
    join organizations o on o.id = x.organization_id
    join mailbox_counter c on c.mailbox_id = x.id
    join folder inbox on inbox.mailbox_id = x.id and inbox.special_use = '\\Inbox' and inbox.deleted_at is null
    join folder junk on junk.mailbox_id = x.id and junk.special_use = '\\Junk' and junk.deleted_at is null
   where place.open`;

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
