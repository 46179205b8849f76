/** SORT by what placements contain: the database sorts, and no row leaves it. */
import type { SortOrder } from '@agent-mailbox/mail-store';
import type { ByteSource } from '#db/database.ts';
import { inBoth, uidParameters, uidStatement } from '#mailstore/folders/uid-ranges.ts';
import { binaryInt8s } from './binary-arrays.ts';

const COLUMNS: Readonly<Record<SortOrder['key'], string>> = {
  // Without an index of its header, a placement does not know the date of its message.
  date: `coalesce(
    case when p.header_lines is null then (select m.sent_at from message m where m.id = p.message_id) else p.sent_at end,
    p.internal_date)`,
  'internal-date': 'p.internal_date',
  size: 'p.size',
};

/** @see MailboxStore.sorted */
export async function sortedUids(
  source: ByteSource,
  mailboxId: string,
  folderId: number,
  uids: Uint32Array,
  order: readonly SortOrder[],
): Promise<Uint32Array> {
  if (uids.length === 0) return uids;
  const { form, values, others } = uidParameters(uids);
  const keys = order.map(({ key, reverse }) => `${COLUMNS[key]} ${reverse ? 'desc' : 'asc'}`);
  let sorted: Uint32Array = new Uint32Array(0);
  const statement = uidStatement(
    (condition) => `select array_agg(uid) from (
       select p.uid from placement p
        where p.folder_id = $1 and ${condition}
          and exists (select from folder f where f.id = $1 and f.mailbox_id = $2)
        order by ${[...keys, 'p.uid'].join(', ')}) as ordered`,
  );
  await source.copyRows(statement[form], [folderId, mailboxId, ...values], ([column]) => {
    sorted = Uint32Array.from(binaryInt8s(column));
  });
  if (!others) return sorted;
  const asked = new Set(inBoth(sorted.toSorted(), uids));
  return sorted.filter((uid) => asked.has(uid));
}
