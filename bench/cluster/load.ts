/**
 * The load: operations start at a constant rate, whatever happens to earlier ones. Each is tried until it is accepted,
 * at the two copies of its process in turn, like a client with both addresses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openImapClient } from './imap-client.ts';
import type { Ledger, Operation, OperationKind } from './ledger.ts';
import { loadMessage } from './load-message.ts';
import { openRestClient } from './rest-client.ts';
import type { ServiceProcess } from './service-processes.ts';
import { openSmtpClient } from './smtp-client.ts';
import type { LoadSubscriber } from './subscriber.ts';
import type { TryOutcome } from './try-outcome.ts';

/** Of ten operations. */
const MIX: readonly OperationKind[] = [
  'inbound',
  'mailbox',
  'inbound',
  'send',
  'inbound',
  'mailbox',
  'append',
  'inbound',
  'send',
  'mailbox',
];
const RETRY_AFTER_MS = 1_000;
/** More than these at once are not begun: the machine of the clients has its limits, too. */
const OPEN_MAX = 1_500;
export const SENDER = 'load@sender.test';
const CUSTOMERS = 50;

export interface Load {
  /** Operations that were not begun because too many were open. */
  readonly skipped: number;
  /** Starts no more operations; resolves when all started ones have ended, or after this time. */
  finish(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface LoadOptions {
  /** 0: nothing begins. */
  readonly perSecond: number;
  readonly ledger: Ledger;
  readonly subscriber: LoadSubscriber;
  readonly api: readonly ServiceProcess[];
  readonly mail: readonly ServiceProcess[];
  /** Root certificate of the mail processes, PEM. */
  readonly ca: string;
}

export function startLoad({ perSecond, ledger, subscriber, api, mail, ca }: LoadOptions): Load {
  const { mailboxes } = subscriber;
  const [appendTo] = mailboxes;
  if (appendTo === undefined) throw new Error('there is no mailbox to append to');
  const rest = api.map(({ ports }) => openRestClient(`http://127.0.0.1:${ports['API_PORT']}`, subscriber));
  const smtp = mail.map(({ ports }) => openSmtpClient(ports['SMTP_PORT'] ?? 0, ca));
  const imap = mail.map(({ ports }) => openImapClient(ports['IMAPS_PORT'] ?? 0, ca, appendTo));
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let skipped = 0;
  let number = 0;

  const inTurn = <Client>(clients: readonly Client[], turn: number): Client => {
    const client = clients[turn % clients.length];
    if (client === undefined) throw new Error('there is no process to turn to');
    return client;
  };

  function tryOf(
    kind: OperationKind,
    n: number,
    mark: string,
  ): { bytes: number; once(turn: number): Promise<TryOutcome> } {
    const mailbox = inTurn(mailboxes, n);
    switch (kind) {
      case 'mailbox':
        return { bytes: 0, once: (turn) => inTurn(rest, turn).createMailbox(mark) };
      case 'send': {
        const to = `customer-${n % CUSTOMERS}@customer.test`;
        return { bytes: 0, once: (turn) => inTurn(rest, turn).sendMessage(mailbox.id, to, mark) };
      }
      case 'inbound': {
        const message = loadMessage(mark, n, SENDER, mailbox.address);
        return { bytes: message.length, once: (turn) => inTurn(smtp, turn).send(SENDER, mailbox.address, message) };
      }
      case 'append': {
        const message = loadMessage(mark, n, SENDER, appendTo?.address ?? '');
        return { bytes: message.length, once: (turn) => inTurn(imap, turn).append(message) };
      }
    }
  }

  async function carryOut(
    operation: Operation,
    once: (turn: number) => Promise<TryOutcome>,
    first: number,
  ): Promise<void> {
    for (let turn = first; !stopping.signal.aborted; turn++) {
      operation.tries++;
      const outcome = await once(turn);
      operation.lastTry = 'by' in outcome ? `${outcome.kind} ${outcome.by}` : outcome.kind;
      switch (outcome.kind) {
        case 'accepted':
          operation.tokenMissing = outcome.tokenMissing ?? false;
          operation.acceptedAtMs = Date.now();
          return;
        case 'refused':
          operation.refused = outcome.by;
          return;
        case 'deferred':
          operation.deferrals.set(outcome.by, (operation.deferrals.get(outcome.by) ?? 0) + 1);
          break;
        case 'uncertain':
          operation.uncertain++;
          break;
        case 'unreachable':
          break;
      }
      const waitMs = outcome.kind === 'deferred' ? (outcome.afterMs ?? RETRY_AFTER_MS) : RETRY_AFTER_MS;
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  function begin(): void {
    const n = number++;
    if (running.size >= OPEN_MAX) {
      skipped++;
      return;
    }
    const kind = MIX[n % MIX.length] ?? 'inbound';
    const mark = `load-${kind}-${n}-`;
    const { bytes, once } = tryOf(kind, n, mark);
    // Beyond the length of the mix, so that each kind begins at both copies.
    const own = carryOut(ledger.begin(kind, mark, bytes), once, Math.floor(n / MIX.length) + n).finally(() =>
      running.delete(own),
    );
    running.add(own);
  }

  const timer = perSecond === 0 ? undefined : setInterval(begin, 1_000 / perSecond);
  return {
    get skipped() {
      return skipped;
    },
    async finish(withinMs) {
      clearInterval(timer);
      await Promise.race([Promise.all(running), delay(withinMs)]);
    },
    async close() {
      clearInterval(timer);
      stopping.abort();
      for (const client of [...smtp, ...imap]) client.close();
      await Promise.all(rest.map((client) => client.close()));
    },
  };
}
