/** What a host gives the engine for one connection. */
import type { Duplex } from 'node:stream';
import type { EngineLog } from '@agent-mailbox/mail-store/engine-log';
import type { Pop3Login } from './command.ts';

export interface Pop3Options {
  /** For log lines. */
  readonly connectionId: string;
  readonly remoteAddress: string;
  /** Whether the socket is under TLS. */
  readonly secure: boolean;
  /** The server's side of TLS over the socket, unread input discarded; absent: STLS is not offered. */
  readonly startTls?: () => Promise<Duplex>;
  readonly login: Pop3Login;
  /** What the server calls itself in the greeting. Default: it does not. */
  readonly serverName?: string;
  /** Default: none. */
  readonly log?: EngineLog;
  /** Milliseconds to log in. Default: 1 min. */
  readonly loginTimeoutMs?: number;
  /** Milliseconds without a command (autologout timer, RFC 1939 §3). Default: 10 min; never less. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds until a client is disconnected that does not read its answers. Default: 5 min. */
  readonly stuckReaderTimeoutMs?: number;
}
