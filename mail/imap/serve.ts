/** The IMAP engine's public face: give it a socket, a way to log in, and it speaks IMAP until the line ends. */
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { CapabilityHiding } from '../../domain/imap-capabilities.ts';
import type { Login } from '../store/interface.ts';
import { Connection } from './connection.ts';
import { DEFAULT_IMAP_LIMITS, type ImapLimits } from './limits.ts';

export interface ImapOptions {
  /** The socket is a TLS connection already. */
  readonly tls: boolean;
  /** Wraps the same socket in TLS and resolves when the handshake is done; without it STARTTLS is not announced. */
  readonly startTls?: () => Promise<Duplex>;
  readonly login: Login;
  readonly remoteAddress: string;
  /** Our name in the greeting. */
  readonly hostname: string;
  /** Differences from the default limits. */
  readonly limits?: Partial<ImapLimits>;
  /** Capabilities hidden from clients that stumble over them. Default: none. */
  readonly hiding?: readonly CapabilityHiding[];
  readonly log: Logger;
}

export interface ImapConnection {
  readonly id: string;
  /** Resolves when the connection is over and holds nothing any more. Never rejects. */
  readonly done: Promise<void>;
  /** Sends `* BYE reason` when the running command is answered, and ends the connection. */
  close(reason: string): void;
}

export function serveImap(socket: Duplex, options: ImapOptions): ImapConnection {
  const { limits, hiding = [], ...rest } = options;
  return new Connection(socket, { ...rest, hiding, limits: { ...DEFAULT_IMAP_LIMITS, ...limits } });
}
