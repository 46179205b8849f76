/**
 * Gathers writes into transactions (`core/platform/batching/batcher.ts`).
 *
 * A row lock is held until the commit is on disk, so one transaction per message would limit a busy mailbox at the
 * disk's sync rate. Rule: one writer per mailbox at a time in this process; while transactions run, further writes wait
 * and are combined in the next one, up to 64 messages or 4 MiB, of any mailboxes without a writer. Several writers run
 * side by side, which keeps the disk busy. A write over several mailboxes is carried out alone, once all of them are
 * free.
 */
import { oneWriterPerKey } from '#core/platform/batching/batch-policies.ts';
import { type Batcher, batcher } from '#core/platform/batching/batcher.ts';
import { WRITE_BATCH_MAX_BYTES, WRITE_BATCH_MAX_MESSAGES } from '#domain/mail/mail-limits.ts';

/**
 * Transactions at once: one computes while the other waits for the disk. A third one would make batches smaller: of 7
 * messages instead of 10, each costs PostgreSQL about a quarter more CPU.
 */
const WRITERS = 2;

export interface BatchItem {
  readonly mailboxIds: readonly string[];
  readonly bytes: number;
}

/** @param carryOut one transaction; returns outcomes in the order of the items */
export const writeBatcher = <Item extends BatchItem, Outcome>(
  carryOut: (items: readonly Item[]) => Promise<readonly Outcome[]>,
): Batcher<Item, Outcome> =>
  batcher({
    carryOut,
    concurrency: WRITERS,
    policy: oneWriterPerKey(({ mailboxIds, bytes }) => ({ keys: mailboxIds, bytes }), {
      items: WRITE_BATCH_MAX_MESSAGES,
      bytes: WRITE_BATCH_MAX_BYTES,
    }),
  });
