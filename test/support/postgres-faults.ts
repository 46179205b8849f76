/**
 * A proxy in front of PostgreSQL that counts the statements of its clients and lets one of them fail: with an error that
 * the server itself raises, or by losing the server's answer, as when a connection breaks behind a commit.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * `error`: the server answers it with the SQLSTATE, and does not execute it. `lose`: it is executed, and the answer is
 * lost.
 */
export type StatementFault = { readonly kind: 'error'; readonly sqlState: string } | { readonly kind: 'lose' };

/** How the server refuses every session: FATAL with these words, or it closes without a word. */
export type SessionRefusal = { readonly sqlState: string; readonly message: string } | 'closes';

export interface PostgresFaults {
  /** The address of a database, through the proxy. */
  url(databaseUrl: string): string;
  /** Lets the n-th statement from now on fail, counted from 1, or the next COMMIT. */
  arm(which: number | 'commit', fault: StatementFault): void;
  /** Begins to count statements anew. */
  count(): void;
  /** The statements since `count`. */
  counted(): number;
  /** Lets nothing fail any more. @returns whether something did since it was armed */
  disarm(): boolean;
  /** Ends all sessions and refuses new ones, until it is called with undefined. */
  refuseSessions(refusal: SessionRefusal | undefined): void;
  close(): Promise<void>;
}

const QUERY = 0x51; // 'Q'
const SYNC = 0x53; // 'S'
/** As the service writes it. */
const COMMIT = /^Q[^]{4}commit\0$/;
/** Length of a message's type and size. */
const HEADER_BYTES = 5;

/** A simple query (protocol: message-flow) that raises an error in the transaction at hand. */
function raise(sqlState: string): Buffer {
  const text = `do $$ begin raise exception 'a fault of the test' using errcode = '${sqlState}'; end $$\0`;
  const message = Buffer.alloc(HEADER_BYTES + Buffer.byteLength(text));
  message.writeUInt8(QUERY, 0);
  message.writeUInt32BE(message.length - 1, 1);
  message.write(text, HEADER_BYTES);
  return message;
}

/** ErrorResponse (protocol: message-formats). */
function fatal({ sqlState, message }: Exclude<SessionRefusal, 'closes'>): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`);
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('E', 0);
  head.writeUInt32BE(fields.length + HEADER_BYTES - 1, 1);
  return Buffer.concat([head, fields]);
}

export async function postgresFaults(serverUrl: string): Promise<PostgresFaults> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let armed: StatementFault | undefined;
  let left: number | 'commit' = 0;
  let happened = false;
  let statements = 0;

  /** The fault of the statement at hand, if it is the one. */
  function take(isCommit: boolean): StatementFault | undefined {
    if (armed === undefined) return undefined;
    if (left === 'commit' ? !isCommit : --left > 0) return undefined;
    const fault = armed;
    armed = undefined;
    happened = true;
    return fault;
  }

  let refusal: SessionRefusal | undefined;
  function refuse(client: Socket, how: SessionRefusal): void {
    client.on('error', () => {});
    // Behind the message that begins the session.
    client.once('data', () => {
      if (how === 'closes') client.destroy();
      else client.end(fatal(how));
    });
  }

  const server = createServer((client) => {
    if (refusal !== undefined) return refuse(client, refusal);
    const upstream = connect(Number(target.port), target.hostname);
    let losing = false;
    let started = false;
    let buffered: Buffer = Buffer.alloc(0);
    let statement: Buffer[] = [];
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
    }
    upstream.on('data', (data) => {
      if (losing) client.destroy();
      else client.write(data);
    });
    client.on('data', (data) => {
      buffered = Buffer.concat([buffered, data]);
      for (;;) {
        // The first message has no type.
        const header = started ? HEADER_BYTES : HEADER_BYTES - 1;
        if (buffered.length < header) return;
        const length = buffered.readUInt32BE(header - 4) + (started ? 1 : 0);
        if (buffered.length < length) return;
        const message = buffered.subarray(0, length);
        buffered = buffered.subarray(length);
        const type = started ? message[0] : undefined;
        started = true;
        statement.push(message);
        if (type !== QUERY && type !== SYNC && type !== undefined && 'PBDECH'.includes(String.fromCharCode(type)))
          continue;
        const whole = Buffer.concat(statement);
        statement = [];
        const isStatement = type === QUERY || type === SYNC;
        if (isStatement) statements++;
        const fault = isStatement ? take(COMMIT.test(whole.toString('latin1'))) : undefined;
        losing ||= fault?.kind === 'lose';
        upstream.write(fault?.kind === 'error' ? raise(fault.sqlState) : whole);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.hostname = '127.0.0.1';
      url.port = String(address.port);
      return url.href;
    },
    arm(which, fault) {
      left = which;
      armed = fault;
      happened = false;
    },
    count() {
      statements = 0;
    },
    counted: () => statements,
    disarm() {
      armed = undefined;
      return happened;
    },
    refuseSessions(how) {
      refusal = how;
      if (how !== undefined) for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
