import type { Server } from 'node:http';
import { Socket } from 'node:net';

/** Connections over the limit that get an answer at the same time; further ones are closed without one. */
const REFUSED_AT_ONCE_MAX = 100;
/** A refused client has this long to read its answer. */
const REFUSED_GRACE_MS = 1_000;
/** After which a refused client may come back. */
export const CONNECTIONS_RETRY_AFTER_SECONDS = 5;

const ANSWER = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: ${CONNECTIONS_RETRY_AFTER_SECONDS}\r\nContent-Length: 0\r\n\r\n`;

/**
 * Limits the connections of an HTTP server. The next one is answered 503 with Retry-After (RFC 9110 §15.6.4) and closed,
 * before anything of it is read. Call it before the server listens.
 *
 * @param onRefused called for each connection that is refused
 * @param answer the whole HTTP answer to them
 */
export function limitConnections(
  server: Server,
  max: number,
  onRefused: () => void = () => {},
  answer: () => string = () => ANSWER,
): void {
  const serving = server.listeners('connection');
  let open = 0;
  server.maxConnections = max + REFUSED_AT_ONCE_MAX;
  server.on('drop', onRefused);
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // In-memory connections of this process are not counted.
    if (socket instanceof Socket) {
      if (open >= max) {
        onRefused();
        refuse(socket, answer());
        return;
      }
      open++;
      socket.once('close', () => open--);
    }
    for (const serve of serving) Reflect.apply(serve, server, [socket]);
  });
}

function refuse(socket: Socket, answer: string): void {
  const cut = setTimeout(() => socket.destroy(), REFUSED_GRACE_MS);
  socket.on('error', () => {});
  socket.once('close', () => clearTimeout(cut));
  // What the client sends is read and dropped: closing with unread bytes would reset the connection and lose the answer.
  socket.resume();
  socket.end(answer);
}
