/**
 * Calls between the benchmark and the processes it measures, over the IPC channel of `fork`.
 *
 * A child answers named calls until the channel closes, and then ends, so that a killed benchmark leaves nothing behind.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** What a process answers: each call takes one value and returns one. */
export type Calls = Readonly<Record<string, (input: never) => Promise<unknown>>>;

interface Request {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

type Answer = { readonly id: number; readonly output: unknown } | { readonly id: number; readonly error: string };

export interface Child<Served extends Calls> {
  readonly pid: number;
  /** Rejects when the call threw there, or when the process ended before it answered. */
  call<Name extends keyof Served & string>(
    name: Name,
    input: Parameters<Served[Name]>[0],
  ): Promise<Awaited<ReturnType<Served[Name]>>>;
  /** Lets it end in good order. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a script that calls `answerCalls`, and waits until it does. */
export async function startChild<Served extends Calls>(
  script: URL,
  environment: NodeJS.ProcessEnv,
): Promise<Child<Served>> {
  const child = fork(script, [], {
    env: { ...process.env, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const open = new Map<number, { resolve: (output: unknown) => void; reject: (error: Error) => void }>();
  let count = 0;
  const ready = Promise.withResolvers<void>();
  child.on('message', (message) => {
    if (message === 'ready') return ready.resolve();
    const answer = message as Answer; // the other end is `answerCalls`
    const call = open.get(answer.id);
    open.delete(answer.id);
    if ('error' in answer) call?.reject(new Error(answer.error));
    else call?.resolve(answer.output);
  });
  child.once('error', ready.reject);
  child.once('exit', (code, signal) => {
    const error = new Error(`${script.pathname.split('/').at(-1)} ended (${signal ?? `exit code ${code}`})`);
    ready.reject(error);
    for (const { reject } of open.values()) reject(error);
    open.clear();
  });
  await ready.promise;
  return {
    pid: child.pid ?? 0,
    call: (name, input) =>
      new Promise((resolve, reject) => {
        const id = ++count;
        // The answer has the type the other end's function declares.
        open.set(id, { resolve: resolve as (output: unknown) => void, reject });
        child.send({ id, name, input } satisfies Request, (error) => error && reject(error));
      }),
    async stop() {
      if (child.connected) child.disconnect();
      await ended(child);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Answers calls of the process that started this one; `close` runs when it lets go. */
export function answerCalls(calls: Calls, close: () => Promise<void>): void {
  const send = (message: unknown) => process.send?.(message, () => {});
  process.on('message', (message) => {
    const { id, name, input } = message as Request; // the other end is `startChild`
    const call = calls[name];
    if (call === undefined) return send({ id, error: `there is no call ${name}` } satisfies Answer);
    // The other end has the same table of calls.
    call(input as never).then(
      (output) => send({ id, output } satisfies Answer),
      (error: Error) => send({ id, error: error.stack ?? error.message } satisfies Answer),
    );
  });
  process.once('disconnect', () => {
    close()
      .catch((error: Error) => process.stderr.write(`${error.stack}\n`))
      .finally(() => process.exit());
  });
  // Ctrl-C reaches every process of the terminal's group; the benchmark itself decides when this one ends.
  process.on('SIGINT', () => {});
  send('ready');
}

/** Closes the measured processes when the benchmark is interrupted. @returns closes them once */
export function closeOnSignal(world: { close(): Promise<void> }): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= world.close();
    return closing;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(130)));
  return close;
}
