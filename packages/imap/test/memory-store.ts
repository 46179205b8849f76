/** The store in memory, at a time that the dialogues can name. */
import { MemoryStore as Store } from '@agent-mailbox/mail-store/memory';

export class MemoryStore extends Store {
  override now: Date = new Date('2026-11-21T10:00:00Z');
}
