/** The POP3 engine's public interface: with a socket and a login function it speaks POP3 until the connection ends. */
import type { Duplex } from 'node:stream';
import { Connection } from './connection.ts';
import type { Pop3Options } from './options.ts';

export type { Pop3Login } from './command.ts';
export type { MaildropStore } from './maildrop.ts';
export type { Pop3Options } from './options.ts';

export interface Pop3Connection {
  /** Ends the connection after the current command; nothing is deleted. */
  stop(): void;
}

/** Serves a connection from the greeting to its end. The socket's errors are the caller's to log. */
export function servePop3(socket: Duplex, options: Pop3Options): Pop3Connection {
  const connection = new Connection(socket, options);
  void connection.run();
  return { stop: () => connection.stop('The server is shutting down') };
}
