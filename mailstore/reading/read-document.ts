/**
 * Reads a page of a document in a thread of its own, which is ended afterwards: no document can hold up the process,
 * take its memory, or see another document. Nothing is kept: a page is made again from the stored bytes.
 */
import { Worker } from 'node:worker_threads';
import { CatalogueError } from '#domain/errors.ts';
import {
  DOCUMENT_MAX_BUFFER_BYTES,
  DOCUMENT_MAX_CPU_MS,
  DOCUMENT_MAX_HEAP_MIB,
  DOCUMENT_MAX_WALL_MS,
  DOCUMENT_THREADS_MAX,
  DOCUMENTS_WAITING_MAX,
} from '#domain/mail/file-limits.ts';
import { type DocumentFacts, DocumentProblem, type TextPage } from '#mime/documents/document-kind.ts';
import type { DocumentAnswer, DocumentJob } from './document-thread.ts';
import { FairQueue } from './reading-threads.ts';

export interface DocumentLimits {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly heapMib: number;
  readonly bufferBytes: number;
}

const LIMITS: DocumentLimits = {
  cpuMs: DOCUMENT_MAX_CPU_MS,
  wallMs: DOCUMENT_MAX_WALL_MS,
  heapMib: DOCUMENT_MAX_HEAP_MIB,
  bufferBytes: DOCUMENT_MAX_BUFFER_BYTES,
};
const THREAD_FILE = new URL('./document-thread.ts', import.meta.url);
/** Interval of the checks of time and memory. A thread allocates some hundred MiB in it at most. */
const WATCH_MS = 50;
const RETRY_AFTER_SECONDS = 5;

const waiting = new FairQueue<() => void>();
let [running, waitingCount] = [0, 0];

/**
 * @param source whose turn it is: a mailbox; sources take turns
 * @throws {DocumentProblem}; {CatalogueError} unavailable, while too many documents are read
 */
export async function readDocumentPage(
  job: DocumentJob & { readonly facts: DocumentFacts },
  source: string,
  limits: DocumentLimits = LIMITS,
): Promise<TextPage> {
  const until = performance.now() + limits.wallMs;
  await turnOf(source, limits.wallMs);
  try {
    return await readInThread(job, limits, until - performance.now());
  } finally {
    running--;
    next();
  }
}

const busy = (): CatalogueError =>
  new CatalogueError('unavailable', 'Too many documents are being read.', { retryAfterSeconds: RETRY_AFTER_SECONDS });

function turnOf(source: string, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (running < DOCUMENT_THREADS_MAX) {
      running++;
      resolve();
      return;
    }
    if (waitingCount >= DOCUMENTS_WAITING_MAX) {
      reject(busy());
      return;
    }
    waitingCount++;
    let over = false;
    // Half of the time is for reading.
    const timer = setTimeout(() => {
      over = true;
      reject(busy());
    }, withinMs / 2);
    waiting.add(source, () => {
      waitingCount--;
      if (over) {
        next();
        return;
      }
      clearTimeout(timer);
      running++;
      resolve();
    });
  });
}

function next(): void {
  if (running < DOCUMENT_THREADS_MAX) waiting.take()?.();
}

const TOO_MUCH = 'Reading the document takes more time or memory than one document may have.';

async function readInThread(job: DocumentJob, limits: DocumentLimits, wallMs: number): Promise<TextPage> {
  const worker = new Worker(THREAD_FILE, {
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMib, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
  const answered = Promise.withResolvers<DocumentAnswer>();
  const tooMuch = () => answered.resolve({ ok: false, kind: 'too_complex', detail: TOO_MUCH });
  worker.once('message', answered.resolve);
  worker.once('messageerror', tooMuch);
  worker.on('error', tooMuch);
  worker.once('exit', tooMuch);
  const wall = setTimeout(tooMuch, wallMs);
  let over = false;
  const watch = async () => {
    const [cpu, heap] = await Promise.all([
      worker.cpuUsage().catch(() => undefined),
      worker.getHeapStatistics().catch(() => undefined),
    ]);
    if (over) return;
    const cpuMs = cpu === undefined ? 0 : (cpu.user + cpu.system) / 1_000;
    if (cpuMs > limits.cpuMs || (heap?.external_memory ?? 0) > limits.bufferBytes) tooMuch();
    else timer = setTimeout(watch, WATCH_MS);
  };
  let timer = setTimeout(watch, WATCH_MS);
  // A copy: a buffer may be a window on memory that is not its own.
  const bytes = Uint8Array.from(job.bytes);
  worker.postMessage({ ...job, bytes }, [bytes.buffer]);
  try {
    const answer = await answered.promise;
    if (answer.ok) return answer.page;
    throw new DocumentProblem(answer.kind, answer.detail);
  } finally {
    over = true;
    clearTimeout(timer);
    clearTimeout(wall);
    await worker.terminate();
  }
}
