/**
 * After the restore of a backup: what its receipts say was erased since is there again. Mailboxes and organizations have
 * the same ids; a correspondent is found by the hash of the address, among all addresses that the database has.
 */

import { correspondentTarget, mailboxTarget, organizationTarget, type Target } from '#administration/erasure/erase.ts';
import { addressHash, type ErasureStatement } from '#administration/erasure/receipt.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database } from '#db/database.ts';

const ROWS_READ_AT_ONCE = 5_000;

/** Where addresses are, with the key by which the rows are read in portions. */
const ADDRESSES: readonly { readonly table: string; readonly key: string; readonly addresses: string }[] = [
  {
    table: 'message',
    key: 'id',
    addresses: `select lower(a ->> 'address') from jsonb_array_elements(t.from_addresses || t.to_addresses || t.cc_addresses) as a
                union select lower(t.envelope_from) union select lower(t.delivered_to)`,
  },
  {
    table: 'outbound_message',
    key: 'id',
    addresses: `select lower(a ->> 'address') from jsonb_array_elements(t.to_addresses || t.cc_addresses) as a
                union select lower(r.address) from outbound_recipient r where r.message_id = t.id`,
  },
  { table: 'suppression', key: 'id', addresses: 'select t.address' },
  {
    table: 'held_arrival',
    key: 'id',
    addresses: `select lower(a ->> 'address') from jsonb_array_elements(t.from_addresses) as a
                union select t.author union select lower(t.envelope_from) union select lower(t.delivered_to)`,
  },
  { table: 'released_thread', key: 'author', addresses: 'select t.author' },
  { table: 'standing_approval', key: 'id', addresses: 'select unnest(t.recipients)' },
  { table: 'decision_rule', key: 'id', addresses: 'select unnest(t.recipients)' },
  { table: 'sender_list', key: 'id', addresses: 'select t.value' },
  { table: 'mail_refusal', key: 'id', addresses: 'select unnest(t.keys)' },
  { table: 'known_recipient', key: 'value', addresses: `select lower(split_part(t.value, ' ', -1))` },
];

async function* addressesIn(db: Database): AsyncGenerator<string[]> {
  for (const { table, key, addresses } of ADDRESSES)
    for (let after = ''; ; ) {
      const rows = await db.query<{ key: string; found: (string | null)[] }>(
        `select ${key} as key, array(${addresses}) as found from ${table} t where ${key} > $1 order by ${key} limit $2`,
        [after, ROWS_READ_AT_ONCE],
      );
      const last = rows.at(-1)?.key;
      if (last === undefined) break;
      yield rows.flatMap(({ found }) => found.filter((each) => each !== null));
      after = last;
    }
}

/** Addresses of these hashes that the database has. */
async function addressesOf(
  { db, pepper }: Pick<Services, 'db' | 'pepper'>,
  wanted: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const seen = new Set<string>();
  if (wanted.size === 0) return found;
  for await (const addresses of addressesIn(db))
    for (const address of addresses) {
      if (seen.has(address)) continue;
      seen.add(address);
      const hash = addressHash(pepper, address);
      if (wanted.has(hash)) found.set(hash, address);
    }
  return found;
}

/** What the database has again of what was erased. */
export async function targetsAgain(services: Services, statements: readonly ErasureStatement[]): Promise<Target[]> {
  const { db } = services;
  const hashes = new Set(statements.flatMap(({ subject }) => subject.addressHash ?? []));
  const addresses = await addressesOf(services, hashes);
  const targets: Target[] = [];
  for (const { kind, subject } of statements) {
    const address = addresses.get(subject.addressHash ?? '');
    if (kind === 'correspondent') {
      if (address !== undefined) targets.push(await correspondentTarget(services, address, subject.organizationId));
      continue;
    }
    const id = (kind === 'mailbox' ? subject.mailboxId : subject.organizationId) ?? '';
    const table = kind === 'mailbox' ? 'mailboxes' : 'organizations';
    const [row] = await db.query(`select 1 from ${table} where id = $1`, [id]);
    if (row !== undefined)
      targets.push(kind === 'mailbox' ? await mailboxTarget(db, id) : await organizationTarget(db, id));
  }
  return targets;
}
