/** The POP3 engine on real sockets, over maildrops in memory. */
import { readFileSync } from 'node:fs';
import { type Pop3Login, type Pop3Options, servePop3 } from '@agent-mailbox/pop3';
import { connectionCounter, connectionTotal } from '#mail/connection-counter.ts';
import { type Listener, openListener } from '#mail/listeners.ts';
import { tlsContext } from '#mail/tls.ts';
import { LineClient } from '#test/support/line-client.ts';
import { testLog, testTls } from '#test/support/services.ts';
import type { MemoryMaildrop } from './memory-maildrop.ts';
import { recorded } from './recorded-sessions.ts';

export const ADDRESS = 'agent@agents.test';
export const TOKEN = 'amt_right horse';

export interface Pop3Server {
  readonly plainPort: number;
  /** Open at this moment. */
  readonly connections: ReadonlySet<string>;
  /** Arguments of each login. */
  readonly logins: { address: string; token: string }[];
  /** Under TLS, greeting read. */
  connect(): Promise<LineClient>;
  connectPlain(): Promise<LineClient>;
  /** Logged in. */
  login(): Promise<LineClient>;
  /** As a rotation of the token does. */
  endSessions(): void;
  close(): Promise<void>;
}

export async function startPop3(
  maildrop: MemoryMaildrop,
  options: Partial<Pop3Options> & { answer?: Awaited<ReturnType<Pop3Login>> } = {},
): Promise<Pop3Server> {
  const { answer, ...more } = options;
  const { certFile, keyFile } = testTls();
  const tls = tlsContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  const listeners = new Set<() => void>();
  const logins: { address: string; token: string }[] = [];
  const connections = new Set<string>();
  const login: Pop3Login = async ({ address, token }) => {
    logins.push({ address, token });
    if (answer !== undefined) return answer;
    if (address !== ADDRESS || token !== TOKEN) return { kind: 'refused' };
    return {
      kind: 'ok',
      account: { mailboxId: 'mbx_1', address },
      store: maildrop.store,
      onClosed(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
  };
  const open = (secure: boolean): Promise<Listener> =>
    openListener({
      name: secure ? 'pop3s' : 'pop3',
      host: '127.0.0.1',
      port: 0,
      proxyFrom: [],
      limits: { total: connectionTotal(1_000), sources: connectionCounter(1_000) },
      refusal: (reason) => `-ERR ${reason}\r\n`,
      answersAfterEnd: true,
      log: testLog(),
      mailLog: { refused() {} },
      ...(secure ? { tls } : {}),
      serve({ id, socket, remoteAddress }) {
        connections.add(id);
        socket.once('close', () => connections.delete(id));
        return servePop3(socket, {
          connectionId: id,
          remoteAddress,
          secure,
          ...(secure ? {} : { startTls: () => tls.startTls(socket) }),
          login,
          serverName: 'Agent Mailbox',
          log: testLog(),
          ...more,
        });
      },
    });
  const [plain, secure] = await Promise.all([open(false), open(true)]);
  const server: Pop3Server = {
    plainPort: plain.port,
    connections,
    logins,
    async connect() {
      const client = recorded(await LineClient.open(secure.port, { secure: true }), true);
      await client.line();
      return client;
    },
    async connectPlain() {
      const client = recorded(await LineClient.open(plain.port), false);
      await client.line();
      return client;
    },
    async login() {
      const client = await server.connect();
      await client.command(`USER ${ADDRESS}`);
      const reply = await client.command(`PASS ${TOKEN}`);
      if (!reply?.startsWith('+OK')) throw new Error(`login failed: ${reply}`);
      return client;
    },
    endSessions() {
      for (const listener of listeners) listener();
    },
    async close() {
      await Promise.all([plain.close(0), secure.close(0)]);
    },
  };
  return server;
}
