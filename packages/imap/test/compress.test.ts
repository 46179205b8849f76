import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, createDeflateRaw, createInflateRaw, deflateRawSync } from 'node:zlib';
import { type Client, loggedIn } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

/** The client's half of COMPRESS=DEFLATE. */
async function compressed(client: Client): Promise<(text: string) => void> {
  assert.match((await client.command('c', 'COMPRESS DEFLATE')).at(-1) ?? '', /^c OK/);
  const inflate = createInflateRaw();
  const deflate = createDeflateRaw();
  client.socket.removeAllListeners('data');
  client.socket.on('data', (chunk: Buffer) => inflate.write(chunk));
  inflate.on('data', (chunk: Buffer) => client.receive(chunk));
  deflate.on('data', (chunk: Buffer) => client.socket.write(chunk));
  return (text) => {
    deflate.write(text);
    deflate.flush(constants.Z_SYNC_FLUSH);
  };
}

test('after COMPRESS both directions are deflated (RFC 4978)', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x', '', 'many words '.repeat(50_000)));
  const client = await loggedIn(store);
  assert.match((await client.command('a0', 'COMPRESS LZW')).at(-1) ?? '', /^a0 NO/);
  const send = await compressed(client);
  send('a1 SELECT INBOX\r\na2 FETCH 1 BODY.PEEK[]\r\n');
  const lines: string[] = [];
  for (let line = await client.line(); line !== undefined; line = await client.line()) {
    lines.push(line);
    if (line.startsWith('a2 ')) break;
  }
  assert.match(lines.at(-1) ?? '', /^a2 OK/);
  assert.ok(lines.some((line) => line.length > 500_000));
  send('a3 COMPRESS DEFLATE\r\n');
  assert.match((await client.line()) ?? '', /^a3 NO \[COMPRESSIONACTIVE\]/);
  send('a4 CAPABILITY\r\n');
  assert.ok(!((await client.line()) ?? '').includes('COMPRESS'));
  await client.close();
});

test('an inflate bomb ends the connection', async () => {
  const client = await loggedIn(new MemoryStore());
  await compressed(client);
  client.socket.write(deflateRawSync(Buffer.alloc(50_000_000, 'x')));
  await client.connection.done;
  assert.ok(client.connection);
});

test('garbage in the compressed stream ends the connection', async () => {
  const client = await loggedIn(new MemoryStore());
  await compressed(client);
  client.socket.write(Buffer.from('ffffffffffff', 'hex'));
  await client.connection.done;
});
