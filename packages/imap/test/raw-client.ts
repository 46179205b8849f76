/** A client that takes answers as bytes, literals included. */
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { loggedIn } from './dialogue.ts';
import type { MemoryStore } from './memory-store.ts';

export interface RawClient {
  /** The untagged answers of a command that must end with OK. */
  command(text: string): Promise<Buffer>;
  close(): Promise<void>;
}

/** Logged in, INBOX selected. */
export async function connectRaw(store: MemoryStore): Promise<RawClient> {
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  const socket: Duplex = client.socket;
  socket.removeAllListeners('data');
  let tags = 0;
  return {
    command(text) {
      const end = `\r\nt${++tags} OK `;
      const chunks: Buffer[] = [];
      return new Promise((resolve, reject) => {
        const take = (chunk: Buffer) => {
          chunks.push(chunk);
          const all = Buffer.concat(chunks);
          const at = all.lastIndexOf(end);
          if (at >= 0 && all.at(-1) === 0x0a) {
            socket.off('data', take);
            resolve(all.subarray(0, at + 2));
          } else if (/^t\d+ (?:NO|BAD) .*\r\n$/.test(all.toString('latin1'))) {
            socket.off('data', take);
            reject(new assert.AssertionError({ message: `${text}: ${all.toString('latin1')}` }));
          }
        };
        socket.on('data', take);
        client.send(`t${tags} ${text}\r\n`);
      });
    },
    close: () => client.close(),
  };
}
