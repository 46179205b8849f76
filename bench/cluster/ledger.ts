/**
 * The answers that the clients of the run got: the rows of the database and the receivers' counts are compared with
 * them.
 */

export const OPERATION_KINDS = ['mailbox', 'inbound', 'append', 'send'] as const;
/**
 * - `mailbox`: POST /api/mailboxes → mailbox_created
 * - `inbound`: a mail by SMTP → email_received
 * - `append`: IMAP APPEND
 * - `send`: POST /api/mailboxes/:id/messages → email_sent, and the mail at the relay
 */
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

export interface Ledger {
  readonly operations: readonly Operation[];
  begin(kind: OperationKind, mark: string, bytes: number): Operation;
  /** Begun and neither accepted nor refused. */
  open(): Operation[];
}

export function openLedger(now: () => number = Date.now): Ledger {
  const operations: Operation[] = [];
  return {
    operations,
    begin(kind, mark, bytes) {
      const operation: Operation = {
        kind,
        mark,
        beganAtMs: now(),
        acceptedAtMs: undefined,
        tries: 0,
        uncertain: 0,
        deferrals: new Map(),
        lastTry: 'none',
        refused: undefined,
        tokenMissing: false,
        bytes,
      };
      operations.push(operation);
      return operation;
    },
    open: () => operations.filter(({ acceptedAtMs, refused }) => acceptedAtMs === undefined && refused === undefined),
  };
}
