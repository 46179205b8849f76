/** Stands in for the thread that reads messages: does what a message's subject says. */
import { parentPort } from 'node:worker_threads';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { readMessage } from '#mime/read-message.ts';

/** Above `cpuMs` of the limits that the tests give. */
const START_CPU_MS = 150;

parentPort?.on('message', (bytes: Uint8Array) => {
  const structure = readStructure(bytes);
  if (structure.subject === 'freeze at once') for (;;);
  parentPort?.postMessage({ kind: 'structure', read: structure });
  if (structure.subject === 'freeze') for (;;);
  if (structure.subject === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (structure.subject === 'grow')
    for (const kept: string[][] = []; ; ) kept.push(Array.from({ length: 100_000 }, () => 'x'));
  if (structure.subject === 'exit') process.exit(3);
  parentPort?.postMessage({ kind: 'whole', read: readMessage(bytes), cpuMs: usedCpuMs() });
});

// As if it loaded much: more processor time than a message may take.
const startedAt = process.threadCpuUsage().user;
while (process.threadCpuUsage().user - startedAt < START_CPU_MS * 1_000);
parentPort?.postMessage({ kind: 'ready', cpuMs: usedCpuMs() });

function usedCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
