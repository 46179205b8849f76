import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Connections refused since it was cut. */
  readonly refused: number;
  /** Cuts every connection and refuses new ones, as if the server were down. */
  cut(): void;
  /** Ends `cut` and `freeze`. */
  restore(): void;
  /** Lets nothing through, and keeps every connection open, as when the other side is paused. */
  freeze(): void;
  close(): Promise<void>;
}

/** Stands between a client and a server that a test wants to take away. */
export async function tcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let refused = 0;
  const server = createServer((client) => {
    if (isCut) {
      refused++;
      client.destroy();
      return;
    }
    const upstream = connect(target.port, target.host);
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => peer.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
      if (isFrozen) socket.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get refused() {
      return refused;
    },
    cut() {
      isCut = true;
      destroyAll();
    },
    restore() {
      isCut = false;
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    async close() {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}
