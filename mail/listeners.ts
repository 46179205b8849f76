/**
 * A listener of the mail host: a port, and the steps before the protocol of a connection begins.
 *
 *   accept ─▶ from a network of MAIL_PROXY_FROM? ─yes─▶ PROXY header, within 5 s ─▶ TLS if the listener has it ─▶ serve
 *                         └──────────no──────────────────────────────────────────────▲
 *
 * Closing: no new connections; those without a session are closed, the others are asked to stop after their current
 * command, and closed after a grace time.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Logger } from '#core/platform/log/logger.ts';
import { mailSessions } from '#core/platform/log/metrics.ts';
import type { MailLog } from '#core/platform/mail-log/mail-log.ts';
import { PROXY_HEADER_TIMEOUT_MS, REFUSED_CONNECTION_MS, REFUSED_CONNECTIONS_MAX } from '#domain/mail/mail-limits.ts';
import type { ConnectionLimits } from './connection-counter.ts';
import { type ProxySource, readProxyHeader } from './proxy-header.ts';
import type { TlsContext } from './tls.ts';

/** A connection whose peer is known, with TLS started on listeners with implicit TLS. */
export interface ListenerConnection {
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

export interface ListenerOptions {
  /** For log lines, e.g. `pop3s`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Networks (CIDR) of proxies: connections from there begin with a PROXY header, others must not. */
  readonly proxyFrom: readonly string[];
  /** Given: TLS from the first byte. */
  readonly tls?: TlsContext;
  /** The protocol still answers when a client has closed its side; otherwise the end of one side ends both. */
  readonly answersAfterEnd?: boolean;
  readonly limits: ConnectionLimits;
  /** How the protocol says that there are too many connections, with its line break. */
  refusal(reason: string): string;
  readonly log: Logger;
  readonly mailLog: Pick<MailLog, 'refused'>;
  serve(connection: ListenerConnection): Served;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Resolves when the last connection has ended. */
  close(graceMs: number): Promise<void>;
}

const CONNECTION_ID_BYTES = 6;

/** @throws when the port cannot be listened on */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { name, log } = options;
  const isProxy = networkMatcher(options.proxyFrom);
  const sockets = new Set<net.Socket>();
  const sessions = new Map<net.Socket, Served>();
  let closing = false;
  let refusing = 0;

  const server = net.createServer(
    { noDelay: true, keepAlive: true, allowHalfOpen: options.answersAfterEnd === true },
    (socket) => {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        sessions.delete(socket);
      });
      const counted = options.limits.total.enter();
      if (counted) socket.once('close', () => options.limits.total.leave());
      // A disconnecting peer is not an error; the session gets 'close'.
      socket.on('error', (error) => log.debug({ listener: name, error: error.message }, 'a connection broke'));
      const { remoteAddress, remotePort } = socket;
      if (remoteAddress === undefined || remotePort === undefined) return void socket.destroy();
      if (!counted) return refuse(socket, 'Too many connections, try again later', remoteAddress);
      const peer = { address: remoteAddress, port: remotePort };
      const source = isProxy(remoteAddress) ? takeProxyHeader(socket) : Promise.resolve(null);
      source
        .then((client) => begin(socket, client ?? peer))
        .catch((error: Error) => {
          log.info({ listener: name, remoteAddress, error: error.message }, 'a connection was closed at its start');
          socket.destroy();
        });
    },
  );

  function begin(socket: net.Socket, { address, port }: ProxySource): void {
    if (closing || socket.destroyed) return void socket.destroy();
    const id = randomBytes(CONNECTION_ID_BYTES).toString('hex');
    const remoteAddress = ipaddr.process(address).toString();
    if (!options.limits.sources.enter(id, remoteAddress))
      return refuse(socket, 'Too many connections from your address, close some', remoteAddress);
    mailSessions.inc({ listener: name });
    socket.once('close', () => {
      options.limits.sources.leave(id);
      mailSessions.dec({ listener: name });
    });
    log.debug({ listener: name, session: id, remoteAddress }, 'connected');
    const secured = options.tls?.upgrade(socket);
    secured?.on('error', (error) => log.debug({ listener: name, session: id, error: error.message }, 'TLS failed'));
    sessions.set(socket, options.serve({ id, socket: secured ?? socket, remoteAddress, remotePort: port }));
  }

  /** Says why, as the protocol does and under its TLS, and ends the connection. */
  function refuse(socket: net.Socket, reason: string, remoteAddress: string): void {
    options.mailLog.refused({
      mail: 'connection',
      outcome: 'deferred',
      listener: name,
      client: remoteAddress,
      reply: reason,
    });
    if (closing || refusing >= REFUSED_CONNECTIONS_MAX) return void socket.destroy();
    refusing++;
    const cut = setTimeout(() => socket.destroy(), REFUSED_CONNECTION_MS);
    socket.once('close', () => {
      refusing--;
      clearTimeout(cut);
    });
    const secured = options.tls?.upgrade(socket);
    const say = () => (secured ?? socket).resume().end(options.refusal(reason));
    if (secured === undefined) say();
    else secured.once('secure', say).on('error', () => socket.destroy());
  }

  server.listen(options.port, options.host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`the listener ${name} has no address`);
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

/** @returns whether an address is in one of the networks */
function networkMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (address) => {
    const parsed = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

/**
 * Reads the PROXY header; later bytes stay in the socket.
 *
 * @returns null if the connection is from the proxy itself
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
      () => settle(new Error('the PROXY header did not arrive in time'), null),
      PROXY_HEADER_TIMEOUT_MS,
    );
    socket.on('readable', onReadable).on('close', onClose);
  });
}
