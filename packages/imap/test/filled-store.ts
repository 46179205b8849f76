/** Stores in memory with messages or folders, for dialogues. */
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

export const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;

/** INBOX with so many messages, of which the first has the UID `from`. */
export function filled(count: number, from = 1): MemoryStore {
  const store = new MemoryStore();
  if (from > 1) store.skipUids('INBOX', from);
  for (let i = 1; i <= count; i++) store.deliver('INBOX', note(`mail ${i}`));
  return store;
}

export async function withFolders(...names: string[]): Promise<MemoryStore> {
  const store = new MemoryStore(false);
  for (const name of names) await store.createFolder(name, null);
  return store;
}
