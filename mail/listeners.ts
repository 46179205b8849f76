/**
 * A door of the mail host: a port, and what happens to a connection before its protocol begins.
 *
 *   accept ─▶ from a network of MAIL_PROXY_FROM? ─yes─▶ PROXY header, within 5 s ─▶ TLS where the door has it ─▶ serve
 *                         └──────────no──────────────────────────────────────────────▲
 *
 * Closing: no new connections; those without a session yet are cut, the others are asked to stop at their next
 * convenient moment, and cut after a grace time.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Logger } from '../core/logger.ts';
import { PROXY_HEADER_TIMEOUT_MS } from '../domain/mail-limits.ts';
import { type ProxySource, readProxyHeader } from './proxy-header.ts';
import type { TlsContext } from './tls.ts';

/** A connection whose peer is known, with TLS under way on doors of implicit TLS. */
export interface DoorConnection {
  /** For log lines. */
  readonly id: string;
  readonly socket: net.Socket;
  /** Of the client, also behind a proxy. */
  readonly remoteAddress: string;
  readonly remotePort: number;
}

export interface Served {
  /** Ends the connection at the next convenient moment, with a word to the client. */
  stop(): void;
}

export interface DoorOptions {
  /** For log lines, e.g. `pop3s`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Networks (CIDR) of proxies: connections from there begin with a PROXY header, others must not. */
  readonly proxyFrom: readonly string[];
  /** Given: TLS from the first byte. */
  readonly tls?: TlsContext;
  readonly log: Logger;
  /** Undefined: the connection was refused, and is cut. */
  serve(connection: DoorConnection): Served | undefined;
}

export interface Door {
  readonly host: string;
  readonly port: number;
  /** Resolves when the last connection has gone. */
  close(graceMs: number): Promise<void>;
}

const CONNECTION_ID_BYTES = 6;

/** @throws when the port cannot be listened on */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { name, log } = options;
  const isProxy = networkMatcher(options.proxyFrom);
  const sockets = new Set<net.Socket>();
  const sessions = new Map<net.Socket, Served>();
  let closing = false;

  const server = net.createServer({ noDelay: true, keepAlive: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      sessions.delete(socket);
    });
    // A peer that goes away is no fault; the session hears of it by 'close'.
    socket.on('error', (error) => log.debug({ door: name, error: error.message }, 'a connection broke'));
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return void socket.destroy();
    const peer = { address: remoteAddress, port: remotePort };
    const source = isProxy(remoteAddress) ? takeProxyHeader(socket) : Promise.resolve(null);
    source
      .then((client) => begin(socket, client ?? peer))
      .catch((error: Error) => {
        log.info({ door: name, remoteAddress, error: error.message }, 'a connection was dropped at its beginning');
        socket.destroy();
      });
  });

  function begin(socket: net.Socket, { address, port }: ProxySource): void {
    if (closing || socket.destroyed) return void socket.destroy();
    const id = randomBytes(CONNECTION_ID_BYTES).toString('hex');
    const remoteAddress = ipaddr.process(address).toString();
    log.debug({ door: name, connection: id, remoteAddress }, 'connected');
    const secured = options.tls?.upgrade(socket);
    secured?.on('error', (error) => log.debug({ door: name, connection: id, error: error.message }, 'TLS failed'));
    const served = options.serve({ id, socket: secured ?? socket, remoteAddress, remotePort: port });
    if (served === undefined) socket.destroySoon();
    else sessions.set(socket, served);
  }

  server.listen(options.port, options.host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`the door ${name} has no address`);
  return {
    host: address.address,
    port: address.port,
    async close(graceMs) {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) if (!sessions.has(socket)) socket.destroy();
      for (const served of sessions.values()) served.stop();
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** @returns whether an address lies in one of the networks */
function networkMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (address) => {
    const parsed = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

/**
 * Reads the PROXY header; what came behind it stays in the socket.
 *
 * @returns null when the proxy speaks for itself
 */
function takeProxyHeader(socket: net.Socket): Promise<ProxySource | null> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const settle = (error: Error | undefined, source: ProxySource | null) => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('close', onClose);
      if (error === undefined) resolve(source);
      else reject(error);
    };
    const onClose = () => settle(new Error('closed before the PROXY header was complete'), null);
    const onReadable = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
        received = Buffer.concat([received, chunk]);
      if (received.length === 0) return;
      const header = readProxyHeader(received);
      if (header.kind === 'partial') return;
      if (header.kind === 'bad') return settle(new Error('no valid PROXY header'), null);
      if (header.bytes < received.length) socket.unshift(received.subarray(header.bytes));
      settle(undefined, header.source);
    };
    const timer = setTimeout(
      () => settle(new Error('the PROXY header did not come in time'), null),
      PROXY_HEADER_TIMEOUT_MS,
    );
    socket.on('readable', onReadable).on('close', onClose);
  });
}
