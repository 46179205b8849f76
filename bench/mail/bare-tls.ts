/** A plain Node TLS server that answers each line with one line: the cost of a connection without a mail server. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerCalls } from '#bench/child-calls.ts';
import { TLS_MIN_VERSION } from '#mail/tls.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const secureContext = tls.createSecureContext({
  cert: readFileSync(process.env['TLS_CERT'] ?? ''),
  key: readFileSync(process.env['TLS_KEY'] ?? ''),
  minVersion: TLS_MIN_VERSION,
});
const open = new Set<tls.TLSSocket>();
const server = net.createServer({ noDelay: true, keepAlive: true }, (socket) => {
  const secured = new tls.TLSSocket(socket, { isServer: true, secureContext });
  open.add(secured);
  socket.on('error', () => {});
  secured.on('error', () => {}).on('close', () => open.delete(secured));
  secured.write('* OK\r\n');
  secured.on('data', (line) => {
    const tag = line.toString('latin1').split(' ')[0] ?? '*';
    secured.write(line.includes(' IDLE') ? '+ idling\r\n' : `${tag} OK\r\n`);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const calls = {
  async address() {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no address');
    return { host: address.address, port: address.port };
  },
  async memory() {
    for (let i = 0; i < 3; i++) collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heapUsed };
  },
};
export type BareTlsCalls = typeof calls;

answerCalls(calls, async () => {
  server.close();
  for (const socket of open) socket.destroy();
});
