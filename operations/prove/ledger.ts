/**
 * The ledger of a load: operations that begin at a constant rate, whatever happens to earlier ones. Each is tried until it is
 * accepted. The ledger keeps the answers that the clients got: the rows of the database and what receivers got are
 * compared with them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { TryOutcome } from './clients.ts';

/**
 * - `mailbox`: POST /api/mailboxes → mailbox_created
 * - `inbound`: a mail by SMTP → email_received
 * - `append`: IMAP APPEND
 * - `send`: POST /api/mailboxes/:id/messages → email_sent, and the mail at the relay
 */
export const OPERATION_KINDS = ['mailbox', 'inbound', 'append', 'send'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

export interface Operation {
  readonly kind: OperationKind;
  /** Part of the name of the mailbox, of the Message-ID, or of the subject, by kind. */
  readonly mark: string;
  readonly beganAtMs: number;
  acceptedAtMs: number | undefined;
  tries: number;
  /** Tries with an unknown outcome: no answer arrived. */
  uncertain: number;
  /** Tries that were refused with a status that says "try again", by status or code. */
  readonly deferrals: Map<string, number>;
  /** The result of the last try. */
  lastTry: string;
  /** A refusal for good, which nothing in this load deserves. */
  refused: string | undefined;
  /** The answer lacked the token of the new mailbox. */
  tokenMissing: boolean;
  /** Bytes of the message as sent; 0 if there is none. */
  readonly bytes: number;
}

export const newOperation = (kind: OperationKind, mark: string, bytes: number): Operation => ({
  ...{ kind, mark, bytes, beganAtMs: Date.now(), acceptedAtMs: undefined, tries: 0, uncertain: 0 },
  ...{ deferrals: new Map(), lastTry: 'none', refused: undefined, tokenMissing: false },
});

/** Neither accepted nor refused. */
export const isOpen = ({ acceptedAtMs, refused }: Operation): boolean =>
  acceptedAtMs === undefined && refused === undefined;

const RETRY_AFTER_MS = 1_000;
/** More than these at once are not begun: the machine of the clients has its limits, too. */
const OPEN_MAX = 1_500;

/** Bytes of what an operation sends, and one try of it. @param turn counts up with each try */
export type Tries = readonly [bytes: number, once: (turn: number) => Promise<TryOutcome>];

export interface Ledger {
  readonly operations: readonly Operation[];
  /** Operations that were not begun because too many were open. */
  readonly skipped: number;
  /** Starts no more operations; resolves when all started ones have ended, or after this time. */
  finish(withinMs: number): Promise<void>;
  /** Starts and repeats nothing more. */
  close(): void;
}

export function inTurn<Each>(each: readonly Each[], turn: number): Each {
  const one = each[turn % each.length];
  if (one === undefined) throw new Error('there is none to turn to');
  return one;
}

/**
 * Begins operations until it is finished.
 *
 * @param mix kinds in turn
 * @param tryOf how an operation is tried, by its number and its mark
 */
export function startOperations(
  mix: readonly OperationKind[],
  perSecond: number,
  tryOf: (kind: OperationKind, n: number, mark: string) => Tries,
): Ledger {
  const operations: Operation[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let skipped = 0;
  let number = 0;

  async function carryOut(operation: Operation, once: (turn: number) => Promise<TryOutcome>, first: number) {
    for (let turn = first; !stopping.signal.aborted; turn++) {
      operation.tries++;
      const outcome = await once(turn);
      operation.lastTry = 'by' in outcome ? `${outcome.kind} ${outcome.by}` : outcome.kind;
      if (outcome.kind === 'accepted') {
        operation.tokenMissing = outcome.tokenMissing ?? false;
        operation.acceptedAtMs = Date.now();
        return;
      }
      if (outcome.kind === 'refused') {
        operation.refused = outcome.by;
        return;
      }
      if (outcome.kind === 'uncertain') operation.uncertain++;
      const isDeferred = outcome.kind === 'deferred';
      if (isDeferred) operation.deferrals.set(outcome.by, (operation.deferrals.get(outcome.by) ?? 0) + 1);
      const waitMs = (isDeferred ? outcome.afterMs : undefined) ?? RETRY_AFTER_MS;
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  function begin(): void {
    const n = number++;
    if (running.size >= OPEN_MAX) {
      skipped++;
      return;
    }
    const kind = inTurn(mix, n);
    const mark = `load-${kind}-${n}-`;
    const [bytes, once] = tryOf(kind, n, mark);
    const operation = newOperation(kind, mark, bytes);
    operations.push(operation);
    // Beyond the length of the mix, so that each kind begins at both copies.
    const own = carryOut(operation, once, Math.floor(n / mix.length) + n).finally(() => running.delete(own));
    running.add(own);
  }

  const timer = setInterval(begin, 1_000 / perSecond);
  return {
    operations,
    get skipped() {
      return skipped;
    },
    async finish(withinMs) {
      clearInterval(timer);
      await Promise.race([Promise.all(running), delay(withinMs, undefined, { ref: false })]);
    },
    close() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}

/** Who writes the mails of a load. */
export const LOAD_SENDER = 'load@sender.test';

/** Most are small; every sixth is too large to be kept in memory while it is received. */
export const SMALL_BYTES = 2_000;
export const LARGE_BYTES = 400_000;
export const LARGE_EVERY = 6;
const LINE = `${'The quick brown fox jumps over the lazy dog near the old mill. '.slice(0, 62)}\r\n`;

/** @param mark part of the Message-ID and the subject, so that no two have the same content */
export function loadMessage(mark: string, to: string, bytes = SMALL_BYTES, from = LOAD_SENDER): Buffer {
  const header =
    `Date: ${new Date().toUTCString()}\r\nFrom: Load Maker <${from}>\r\nTo: <${to}>\r\nSubject: ${mark}\r\n` +
    `Message-ID: <${mark}@sender.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`;
  return Buffer.from(header + LINE.repeat(Math.ceil(bytes / LINE.length)));
}
