import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const CONNECT_WITHIN_MS = 3_000;

/** A TCP port that is free at this moment. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** Why a server could not listen there now; undefined: it could. */
export async function portProblem(port: number, host = '127.0.0.1'): Promise<string | undefined> {
  if (port === 0) return undefined;
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') return 'is taken by another program';
    if (code === 'EACCES') return 'needs root';
    if (code === 'EADDRNOTAVAIL') return 'is on an address this machine does not have';
    return error instanceof Error ? `cannot be used: ${error.message}` : 'cannot be used';
  } finally {
    server.close();
  }
}

/** Whether anything accepts a TCP connection there. */
export function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_WITHIN_MS });
    const answer = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => answer(true));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}
