/**
 * Gathers writes into transactions.
 *
 * A row lock lives until the commit is on disk, so one transaction per message would cap a busy mailbox at the disk's
 * sync rate. Rule: one writer per mailbox at a time in this process; while transactions run, further writes wait and
 * go together in the next one, up to 64 messages or 4 MiB, of whatever mailboxes are free. Several writers run side by
 * side, which keeps the disk busy. There is no timer, so an idle store adds no delay. A write over several mailboxes
 * goes alone, once all of them are free. A failed batch is repeated one by one, so that one bad message fails alone.
 */
import { WRITE_BATCH_MAX_BYTES, WRITE_BATCH_MAX_MESSAGES } from '../../domain/mail-limits.ts';

/** Transactions at once: enough that one computes while another waits for the disk. */
const WRITERS = 3;

export interface BatchItem {
  readonly mailboxIds: readonly string[];
  readonly bytes: number;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

export interface WriteBatcher<Item, Outcome> {
  write(item: Item): Promise<Outcome>;
  /** Resolves when nothing is waiting or running. */
  idle(): Promise<void>;
}

/** @param run carries out one transaction; returns outcomes in the order of the items */
export function writeBatcher<Item extends BatchItem, Outcome>(
  run: (items: readonly Item[]) => Promise<readonly Outcome[]>,
): WriteBatcher<Item, Outcome> {
  let waiting: Waiting<Item, Outcome>[] = [];
  const busy = new Set<string>();
  let running = 0;
  let idleListeners: (() => void)[] = [];

  /** Takes what fits into one transaction, oldest first; a mailbox passed over stays in its order. */
  function takeBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    const passedOver = new Set<string>();
    let bytes = 0;
    let closed = false;
    for (const each of waiting) {
      const { mailboxIds } = each.item;
      const alone = mailboxIds.length > 1;
      const blocked = mailboxIds.some((id) => busy.has(id) || passedOver.has(id));
      const fits = batch.length === 0 || (!alone && bytes + each.item.bytes <= WRITE_BATCH_MAX_BYTES);
      if (closed || blocked || !fits) {
        left.push(each);
        for (const id of mailboxIds) passedOver.add(id);
        continue;
      }
      batch.push(each);
      bytes += each.item.bytes;
      closed = alone || batch.length >= WRITE_BATCH_MAX_MESSAGES;
    }
    waiting = left;
    return batch;
  }

  function pump(): void {
    while (running < WRITERS && waiting.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      const mailboxIds = batch.flatMap(({ item }) => item.mailboxIds);
      for (const id of mailboxIds) busy.add(id);
      running++;
      void carryOut(batch).finally(() => {
        for (const id of mailboxIds) busy.delete(id);
        running--;
        pump();
        if (running === 0 && waiting.length === 0) for (const listener of idleListeners.splice(0)) listener();
      });
    }
  }

  async function carryOut(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      settle(batch, await run(batch.map(({ item }) => item)));
    } catch (error) {
      if (batch.length === 1) {
        for (const { reject } of batch) reject(error);
        return;
      }
      for (const each of batch) await carryOut([each]);
    }
  }

  return {
    write(item) {
      return new Promise<Outcome>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        pump();
      });
    },
    idle() {
      if (running === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        idleListeners = [...idleListeners, resolve];
      });
    },
  };
}

function settle<Item, Outcome>(batch: readonly Waiting<Item, Outcome>[], outcomes: readonly Outcome[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i];
    if (outcome === undefined) reject(new Error('a write got no outcome'));
    else resolve(outcome);
  }
}
