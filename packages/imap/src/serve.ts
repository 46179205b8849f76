/** The IMAP engine's public interface: with a socket and a login function it speaks IMAP until the connection ends. */
import type { Duplex } from 'node:stream';
import type { Login } from '@agent-mailbox/mail-store';
import { type EngineLog, NO_LOG } from '@agent-mailbox/mail-store/engine-log';
import { Connection } from './connection.ts';
import { connectionLimits, type ImapLimits } from './limits.ts';
import type { CapabilityHiding } from './session/capabilities.ts';

export type { ImapLimits } from './limits.ts';
export type { CapabilityHiding } from './session/capabilities.ts';

export interface ImapOptions {
  /** The socket is a TLS connection already. */
  readonly tls: boolean;
  /** Wraps the same socket in TLS and resolves when the handshake is done; without it STARTTLS is not announced. */
  readonly startTls?: () => Promise<Duplex>;
  readonly login: Login;
  readonly remoteAddress: string;
  /** Our name in the greeting. */
  readonly hostname: string;
  /** The largest message that APPEND accepts; announced as APPENDLIMIT (RFC 7889). */
  readonly messageMaxBytes: number;
  /** Differences from the default limits. */
  readonly limits?: Partial<ImapLimits>;
  /** What the server calls itself in its answer to ID (RFC 2971). Default: it does not. */
  readonly serverName?: string;
  /** Capabilities hidden from clients that stumble over them. Default: none. */
  readonly hiding?: readonly CapabilityHiding[];
  /** Default: none. */
  readonly log?: EngineLog;
}

export interface ImapConnection {
  readonly id: string;
  /** Resolves when the connection has ended and released everything. Never rejects. */
  readonly done: Promise<void>;
  /** Sends `* BYE reason` when the running command is answered, and ends the connection. */
  close(reason: string): void;
}

/** Speaks IMAP on a connection. The socket's errors are the caller's to log. */
export function serveImap(socket: Duplex, options: ImapOptions): ImapConnection {
  const { messageMaxBytes, limits, hiding = [], serverName = null, log = NO_LOG, ...rest } = options;
  return new Connection(socket, {
    ...rest,
    hiding,
    serverName,
    log,
    limits: connectionLimits(messageMaxBytes, limits),
  });
}
