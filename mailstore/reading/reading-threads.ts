/**
 * Reads messages in threads beside the process, so that no message can hold it up: a thread that takes too much time
 * or memory is ended, and the next message gets a new one. Threads are started when they are first needed, and never
 * keep the process alive.
 */
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import type { MessageStructure } from '@agent-mailbox/mime-structure/read-structure';
import {
  READING_MAX_CPU_MS,
  READING_MAX_HEAP_MIB,
  READING_MAX_WALL_MS,
  READING_THREAD_START_MAX_MS,
  READING_THREADS_MAX,
  READING_WAITING_MAX_BYTES,
} from '#domain/mail/mail-limits.ts';
import { type ReadMessage, withoutContent } from '#mime/read-message.ts';
import { commandRulesInUse } from '#mime/signals/message-signals.ts';
import type { ReadingAnswer, ReadingThreadData } from './reading-thread.ts';

/**
 * Items wait by their source, and sources take turns: however many items one of them adds, the next item of another is
 * taken after at most one of each source. A source without items takes no memory.
 */
export class FairQueue<Item> {
  /** In the order of their turns. */
  readonly #bySource = new Map<string, Item[]>();

  add(source: string, item: Item): void {
    const waiting = this.#bySource.get(source);
    if (waiting === undefined) this.#bySource.set(source, [item]);
    else waiting.push(item);
  }

  /** The oldest item of the source whose turn it is; undefined: nothing waits. */
  take(): Item | undefined {
    const [first] = this.#bySource;
    if (first === undefined) return undefined;
    const [source, waiting] = first;
    const item = waiting.shift();
    // Behind all others, when it has more.
    this.#bySource.delete(source);
    if (waiting.length > 0) this.#bySource.set(source, waiting);
    return item;
  }

  get isEmpty(): boolean {
    return this.#bySource.size === 0;
  }
}

export interface ReadingThreads {
  /**
   * Undefined: not even its header could be read within the limits. Without content: its text could not.
   *
   * @param source where the message came from; sources take turns
   * @throws {ReadingBusy}
   */
  read(bytes: Uint8Array, source: string): Promise<ReadMessage | undefined>;
  /** Ends idle threads; those at work end with the process. */
  close(): Promise<void>;
}

interface ReadingLimits {
  readonly threads: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Wall time until a new thread can read; it counts for no message. */
  readonly startMs: number;
  readonly heapMib: number;
  readonly waitingBytes: number;
}

const LIMITS: ReadingLimits = {
  threads: READING_THREADS_MAX,
  cpuMs: READING_MAX_CPU_MS,
  wallMs: READING_MAX_WALL_MS,
  startMs: READING_THREAD_START_MAX_MS,
  heapMib: READING_MAX_HEAP_MIB,
  waitingBytes: READING_WAITING_MAX_BYTES,
};

/** More waits to be read than there is memory for. Nothing was stored; the same message may come again later. */
export class ReadingBusy extends StoreUnavailable {
  constructor() {
    super('too much mail waits to be read; try again later');
    this.name = 'ReadingBusy';
  }
}

interface Job {
  readonly bytes: Uint8Array;
  readonly resolve: (read: ReadMessage | undefined) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Whether it can read; false when it ended, or did not get that far in time. */
  readonly ready: Promise<boolean>;
  /** Processor time used before the message that is being read. */
  cpuMs: number;
}

const THREAD_FILE = new URL('./reading-thread.ts', import.meta.url);

/** @param file module of the thread */
export function readingThreads(limits: ReadingLimits = LIMITS, file: URL = THREAD_FILE): ReadingThreads {
  const waiting = new FairQueue<Job>();
  const idle: Thread[] = [];
  let open = 0;
  let waitingBytes = 0;

  function start(): Thread {
    open++;
    const worker = new Worker(file, {
      execArgv: [],
      env: {},
      workerData: { commandRules: commandRulesInUse() } satisfies ReadingThreadData,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMib, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    });
    const ready = Promise.withResolvers<boolean>();
    const thread: Thread = { worker, cpuMs: 0, ready: ready.promise };
    // Keeps the process, as a message waits for the thread.
    const tooLong = setTimeout(() => ready.resolve(false), limits.startMs);
    worker.once('message', (answer: ReadingAnswer) => {
      clearTimeout(tooLong);
      if (answer.kind === 'ready') thread.cpuMs = answer.cpuMs;
      ready.resolve(answer.kind === 'ready');
    });
    worker.unref();
    worker.on('error', () => undefined); // `exit` follows
    worker.once('exit', () => {
      open--;
      clearTimeout(tooLong);
      ready.resolve(false);
      const at = idle.indexOf(thread);
      if (at >= 0) idle.splice(at, 1);
      next();
    });
    return thread;
  }

  function next(): void {
    while (!waiting.isEmpty) {
      const thread = idle.pop() ?? (open < limits.threads ? start() : undefined);
      if (thread === undefined) return;
      const job = waiting.take();
      if (job === undefined) return;
      waitingBytes -= job.bytes.length;
      void carryOut(thread, job);
    }
  }

  async function carryOut(thread: Thread, { bytes, resolve }: Job): Promise<void> {
    const { worker } = thread;
    let structure: MessageStructure | undefined;
    const isReady = await thread.ready;
    const whole = await new Promise<ReadMessage | undefined>((settle) => {
      if (!isReady) {
        settle(undefined);
        return;
      }
      const ended = () => done(undefined);
      const received = (answer: ReadingAnswer) => {
        if (answer.kind === 'structure') structure = withBuffers(answer.read);
        else if (answer.kind === 'whole') {
          thread.cpuMs = answer.cpuMs;
          done({ ...answer.read, ...withBuffers(answer.read) });
        }
      };
      const stopWatch = watch(thread, ended);
      const done = (read: ReadMessage | undefined) => {
        stopWatch();
        worker.off('message', received).off('exit', ended).off('messageerror', ended);
        settle(read);
      };
      worker.on('message', received).once('exit', ended).once('messageerror', ended);
      // A copy: a buffer may be a window on memory that is not its own.
      const copy = Uint8Array.from(bytes);
      worker.postMessage(copy, [copy.buffer]);
    });
    if (whole !== undefined) {
      idle.push(thread);
      resolve(whole);
    } else {
      // Nobody waits for its end; until then it counts as open.
      void worker.terminate();
      resolve(structure === undefined ? undefined : withoutContent(structure));
    }
    next();
  }

  /** Wall time alone would depend on other load of the machine. */
  function watch(thread: Thread, tooLong: () => void): () => void {
    let over = false;
    const look = async () => {
      const used = await thread.worker.cpuUsage().catch(() => undefined);
      if (over) return;
      const cpuMs = used === undefined ? 0 : (used.user + used.system) / 1_000 - thread.cpuMs;
      if (cpuMs >= limits.cpuMs) tooLong();
      else timer = setTimeout(look, Math.max(50, limits.cpuMs - cpuMs));
    };
    let timer = setTimeout(look, limits.cpuMs);
    // A timer of its own: a thread that waits or works outside of JavaScript may not report the CPU time it has used.
    const wall = setTimeout(tooLong, limits.wallMs);
    // What must be read keeps the process, as a query does; a thread that waits does not.
    return () => {
      over = true;
      clearTimeout(timer);
      clearTimeout(wall);
    };
  }

  return {
    read: (bytes, source) =>
      new Promise((resolve, reject) => {
        // The largest message must always find a place.
        if (!waiting.isEmpty && waitingBytes + bytes.length > limits.waitingBytes) {
          reject(new ReadingBusy());
          return;
        }
        waitingBytes += bytes.length;
        waiting.add(source, { bytes, resolve });
        next();
      }),
    async close() {
      await Promise.all(idle.splice(0).map(({ worker }) => worker.terminate()));
    },
  };
}

/** Buffers come out of a thread as plain arrays of bytes. */
function withBuffers<Read extends MessageStructure>(read: Read): MessageStructure {
  const buffer = ({ buffer: bytes, byteOffset, byteLength }: Uint8Array) => Buffer.from(bytes, byteOffset, byteLength);
  return { ...read, envelope: buffer(read.envelope), bodyStructure: buffer(read.bodyStructure) };
}
