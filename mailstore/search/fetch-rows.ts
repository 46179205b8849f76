/** Rows of messages for FETCH, SORT and SEARCH, in portions, without a cursor or connection between them. */

import type { MessageColumns, MessageRow, SortAddress, SortKeys } from '@agent-mailbox/mail-store';
import { readAhead } from '@agent-mailbox/mail-store/read-ahead';
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Sql } from '#db/database.ts';
import { MESSAGE_OF_PLACEMENT } from '#mailstore/folders/message-of-placement.ts';
import { uidArray } from '#mailstore/folders/uid-ranges.ts';
import { GROUP_END, leadingGroups } from '#mime/leading-groups.ts';

const LIGHT_PORTION = 2_000;
/** Rows with ENVELOPE, BODYSTRUCTURE or offset tree weigh some KB each. */
const HEAVY_PORTION = 400;

interface Row {
  readonly uid: number;
  readonly message_id: string;
  readonly thread_id: string;
  readonly internal_date: Date;
  readonly internal_offset_minutes: number;
  readonly save_date: Date;
  readonly size: number;
  readonly envelope?: Buffer;
  readonly bodystructure?: Buffer;
  readonly parts?: PartNode;
  readonly preview?: string;
  readonly subject?: string;
  readonly first_from?: MailAddress | null;
  readonly first_to?: MailAddress | null;
  readonly first_cc?: MailAddress | null;
  /** Null: no list of addresses has a group. */
  readonly envelope_with_groups?: Buffer | null;
  readonly sent_at?: Date | null;
  readonly message_id_header?: string | null;
}

/** Ascending UIDs; removed ones are omitted. The next portion is read while the caller processes the last one. */
export const fetchRows = (
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  want: MessageColumns,
): AsyncGenerator<readonly MessageRow[]> => readAhead(portions(sql, mailboxId, folderId, uids, want));

async function* portions(
  sql: Sql,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  want: MessageColumns,
): AsyncGenerator<readonly MessageRow[]> {
  const text = statementFor(want);
  const size = want.envelope || want.bodyStructure || want.parts ? HEAVY_PORTION : LIGHT_PORTION;
  for (let at = 0; at < uids.length; at += size) {
    const rows = await sql.query<Row>(text, [folderId, mailboxId, uidArray(uids.subarray(at, at + size))]);
    if (rows.length > 0) yield rows.map(rowOf);
  }
}

function rowOf(row: Row): MessageRow {
  return {
    uid: row.uid,
    messageId: row.message_id,
    threadId: row.thread_id,
    internalDate: row.internal_date,
    internalOffsetMinutes: row.internal_offset_minutes,
    saveDate: row.save_date,
    size: row.size,
    ...(row.envelope === undefined ? {} : { envelope: row.envelope }),
    ...(row.bodystructure === undefined ? {} : { bodyStructure: row.bodystructure }),
    ...(row.parts === undefined ? {} : { parts: row.parts }),
    ...(row.preview === undefined ? {} : { preview: row.preview }),
    ...(row.subject === undefined ? {} : { sortKeys: sortKeysOf(row) }),
  };
}

function sortKeysOf(row: Row): SortKeys {
  const { envelope_with_groups: envelope } = row;
  const groups = envelope === null || envelope === undefined ? undefined : leadingGroups(envelope);
  return {
    subject: row.subject ?? '',
    from: sortAddress(row.first_from, groups?.from),
    to: sortAddress(row.first_to, groups?.to),
    cc: sortAddress(row.first_cc, groups?.cc),
    sentAt: row.sent_at ?? null,
    messageIdHeader: Buffer.from(row.message_id_header ?? '').toString('latin1'),
  };
}

/** The first entry as the envelope has it: a group by its name, a local part without quotes. */
function sortAddress(address: MailAddress | null | undefined, group: string | undefined): SortAddress {
  if (group !== undefined) return { name: '', mailbox: group };
  if (address === null || address === undefined) return { name: '', mailbox: '' };
  const at = address.address.lastIndexOf('@');
  if (at < 0) return { name: address.name, mailbox: address.address };
  const local = address.address.slice(0, at);
  const mailbox = /^".*"$/s.test(local) ? local.slice(1, -1).replace(/\\(.)/gs, '$1') : local;
  return { name: address.name, mailbox, host: address.address.slice(at + 1) };
}

const COLUMNS: readonly (readonly [keyof MessageColumns, string])[] = [
  ['envelope', 'm.envelope'],
  ['bodyStructure', 'm.bodystructure'],
  ['parts', 'm.parts'],
  ['preview', 'm.preview'],
  [
    'sortKeys',
    `m.subject, m.from_addresses -> 0 as first_from, m.to_addresses -> 0 as first_to,
     m.cc_addresses -> 0 as first_cc, m.sent_at, m.message_id_header,
     case when position('${GROUP_END}'::bytea in m.envelope) > 0 then m.envelope end as envelope_with_groups`,
  ],
];

/** One of at most 32 texts, so that the statement stays prepared. */
function statementFor(want: MessageColumns): string {
  const columns = COLUMNS.flatMap(([name, column]) => (want[name] ? [column] : []));
  return `
    select p.uid, p.message_id, m.thread_id, p.internal_date, p.internal_offset_minutes, p.save_date, p.size${columns.map((each) => `, ${each}`).join('')}
      from placement p ${MESSAGE_OF_PLACEMENT}
     where p.folder_id = $1 and p.uid = any($3::bigint[]) and m.mailbox_id = $2
     order by p.uid`;
}
