/** The thread in which messages are read. It has no connections and no secrets, and may be ended at any time. */
import { parentPort, workerData } from 'node:worker_threads';
import { type MessageStructure, readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { type ReadMessage, withContent } from '#mime/read-message.ts';
import type { CommandRules } from '#mime/signals/command-rules.ts';
import { useCommandRules } from '#mime/signals/message-signals.ts';

export interface ReadingThreadData {
  readonly commandRules: CommandRules;
}

/** `ready` once, when the thread can read; then for each message its structure as soon as that is known, then all of it. */
export type ReadingAnswer =
  /** With the processor time that its start took: loading the word lists is not charged to a message. */
  | { readonly kind: 'ready'; readonly cpuMs: number }
  | { readonly kind: 'structure'; readonly read: MessageStructure }
  /** With the processor time that the thread has used up to now. */
  | { readonly kind: 'whole'; readonly read: ReadMessage; readonly cpuMs: number };

const { commandRules }: ReadingThreadData = workerData;
useCommandRules(commandRules);
parentPort?.on('message', (bytes: Uint8Array) => {
  const structure = readStructure(bytes);
  answer({ kind: 'structure', read: structure });
  const read = withContent(bytes, structure);
  answer({ kind: 'whole', read, cpuMs: usedCpuMs() });
});
answer({ kind: 'ready', cpuMs: usedCpuMs() });

function usedCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function answer(given: ReadingAnswer): void {
  parentPort?.postMessage(given);
}
