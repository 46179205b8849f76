/** A maildrop in memory: what the POP3 engine sees of a mailbox. */

import type { Folder, MessageRow } from '@agent-mailbox/mail-store';
import { indexMessage } from '@agent-mailbox/mime-structure/index-message';
import type { MaildropStore } from '@agent-mailbox/pop3';

export interface MemoryMaildrop {
  readonly store: MaildropStore;
  /** Each call of expunge. */
  readonly expunged: number[][];
  /** As another session would. */
  add(message: string | Buffer): number;
  remove(uid: number): void;
  /** From now on every call throws this. */
  fail(error: Error | undefined): void;
}

export const UID_VALIDITY = 1_700_000_123;

export function memoryMaildrop(messages: readonly (string | Buffer)[] = []): MemoryMaildrop {
  const placed = new Map<number, Buffer>();
  const expunged: number[][] = [];
  let uidNext = 7;
  let failure: Error | undefined;
  const check = () => {
    if (failure !== undefined) throw failure;
  };
  const folder = (): Folder => ({
    id: 1,
    objectId: 'F1',
    name: 'INBOX',
    specialUse: '\\Inbox',
    uidValidity: UID_VALIDITY,
    uidNext,
    highestModseq: 1,
    total: placed.size,
    unseen: placed.size,
    deleted: 0,
    bytes: 0,
    recentFrom: 1,
  });
  const maildrop: MemoryMaildrop = {
    expunged,
    add(message) {
      placed.set(uidNext, typeof message === 'string' ? Buffer.from(message) : message);
      return uidNext++;
    },
    remove: (uid) => void placed.delete(uid),
    fail(error) {
      failure = error;
    },
    store: {
      async folder() {
        check();
        return folder();
      },
      async view() {
        check();
        return {
          folder: folder(),
          uids: Uint32Array.from(placed.keys()),
          modseqs: Float64Array.from(placed.keys(), () => 1),
          flags: new Uint8Array(placed.size),
          keywords: new Map(),
        };
      },
      async *rows(_folderId, uids, want) {
        check();
        const rows: MessageRow[] = [...uids].flatMap((uid) => {
          const bytes = placed.get(uid);
          if (bytes === undefined) return [];
          return {
            uid,
            messageId: `msg_${uid}`,
            threadId: `thr_${uid}`,
            internalDate: new Date(0),
            internalOffsetMinutes: 0,
            saveDate: new Date(0),
            size: bytes.length,
            ...(want.parts ? { parts: indexMessage(bytes) } : {}),
          };
        });
        yield rows;
      },
      async slice(messageId, from, length) {
        check();
        return placed.get(Number(messageId.slice(4)))?.subarray(from, from + length) ?? Buffer.alloc(0);
      },
      async expunge(_folderId, uids) {
        check();
        expunged.push([...(uids ?? [])]);
        for (const uid of uids ?? []) placed.delete(uid);
        return { uids: uids ?? [], highestModseq: 2 };
      },
    },
  };
  for (const message of messages) maildrop.add(message);
  return maildrop;
}
