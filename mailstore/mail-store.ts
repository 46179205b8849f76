/** The mail store of a process: all changes of mail use it. Reading has its own files in this folder. */
import path from 'node:path';
import type { MailAccount, MailboxStore } from '@agent-mailbox/mail-store';
import type { Services } from '#core/platform/process/services.ts';
import { startSharedPortions } from '#core/platform/process/shared-turns.ts';
import { startBlobMover } from './blobs/blob-mover.ts';
import { storeBlob } from './blobs/blob-store.ts';
import { sweepSpool } from './blobs/spool.ts';
import { CARRIED_MAIL_INDEX } from './carried/index-carried-mail.ts';
import type { MailNotifier } from './changes/notifier.ts';
import { type DeliveryOutcome, type DeliveryWrite, isStoredAhead } from './delivery/insert-messages.ts';
import { deliverBatch, writeBatcher } from './delivery/write-delivery.ts';
import { mailboxStores } from './mailbox-store.ts';
import { type MessageTextFiller, messageTextFiller } from './search/message-text.ts';
import { STORED_MAIL_UPGRADE } from './upkeep/upgrade-stored-mail.ts';

export interface MailStore {
  /**
   * Delivers a message to its mailboxes, all or none. Resolves after the commit.
   *
   * @throws what the database throws; the message is then stored nowhere, or wholly (a lost answer to COMMIT), and the
   * redelivery key makes a repetition harmless
   */
  deliver(write: DeliveryWrite): Promise<DeliveryOutcome>;
  /** The store of one mailbox, for an authorized caller. Costs nothing, needs no closing. */
  openMailbox(account: MailAccount): MailboxStore;
  /** Waits for writes in progress. */
  close(): Promise<void>;
}

interface Item {
  readonly mailboxIds: readonly string[];
  readonly bytes: number;
  readonly write: DeliveryWrite;
}

/** @param notifier notified of every change after its commit */
export function openMailStore(services: Services, notifier: MailNotifier): MailStore {
  const { db, deliveriesDue, log } = services;
  const texts: MessageTextFiller = messageTextFiller(db, log);
  const background = [STORED_MAIL_UPGRADE, CARRIED_MAIL_INDEX].map((each) => startSharedPortions(services, each));
  const mover = startBlobMover(services);
  const swept = sweepSpool(path.join(services.settings.DATA_DIR, 'spool'), services.now());
  const batcher = writeBatcher<Item, DeliveryOutcome>(async (items) => {
    const { outcomes, owed } = await db.transaction((sql) =>
      deliverBatch(
        sql,
        items.map(({ write }) => write),
      ),
    );
    if (owed > 0) deliveriesDue.wake();
    notifier.changed(changedFolders(items, outcomes));
    return outcomes;
  });
  return {
    async deliver(write) {
      const { message, deliveries } = write;
      if (isStoredAhead(message)) await storeBlob(db, message.blobKey, message.bytes);
      const mailboxIds = deliveries.map(({ recipient }) => recipient.mailbox.id);
      const outcome = await batcher.add({
        mailboxIds,
        bytes: (isStoredAhead(message) ? 0 : message.bytes.length) + message.read.content.text.length,
        write,
      });
      if (outcome.kind === 'delivered')
        for (const { messageId, mailboxId, duplicate } of outcome.deliveries)
          if (!duplicate)
            texts.add({
              messageId,
              mailboxId,
              bytes: message.bytes,
              parts: message.read.parts,
              text: message.read.content.text,
            });
      return outcome;
    },
    openMailbox: mailboxStores({ services, notifier, texts }),
    async close() {
      await batcher.idle();
      await Promise.all(background.map((each) => each.close()));
      await mover.close();
      await texts.close();
      await swept;
    },
  };
}

function changedFolders(items: readonly Item[], outcomes: readonly DeliveryOutcome[]): Set<number> {
  const ids = new Set<number>();
  for (const [i, outcome] of outcomes.entries())
    if (outcome.kind === 'delivered')
      for (const [k, { duplicate }] of outcome.deliveries.entries()) {
        const folderId = items[i]?.write.deliveries[k]?.folderId;
        if (!duplicate && folderId !== undefined) ids.add(folderId);
      }
  return ids;
}
