import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PipelinedReplies } from '#mail/smtp/inbound-server.ts';

/** A socket that records what is written to the network at once. */
function recorder() {
  const packets: string[] = [];
  const socket = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, written) {
      packets.push(chunk);
      written();
    },
    writev(chunks, written) {
      packets.push(chunks.map(({ chunk }) => chunk).join(''));
      written();
    },
  });
  return { packets, socket };
}

test('replies of commands that overlap or follow at once are one packet, in their order', async () => {
  const { packets, socket } = recorder();
  const replies = new PipelinedReplies();
  const mail = replies.begin(socket);
  socket.write('250 MAIL\r\n');
  mail();
  const rcpt = replies.begin(socket);
  await turn();
  assert.deepEqual(packets, []);
  socket.write('250 RCPT\r\n');
  rcpt();
  const data = replies.begin(socket);
  socket.write('354 DATA\r\n');
  data();
  await turn();
  assert.deepEqual(packets, ['250 MAIL\r\n250 RCPT\r\n354 DATA\r\n']);
  const noop = replies.begin(socket);
  socket.write('250 NOOP\r\n');
  noop();
  await turn();
  assert.equal(packets.at(-1), '250 NOOP\r\n');
});

test('many replies do not wait for the last command: the stream would never drain', async () => {
  const { packets, socket } = recorder();
  const replies = new PipelinedReplies();
  replies.begin(socket);
  for (let count = 0; count < 1_000; count++) {
    const done = replies.begin(socket);
    socket.write('250 2.0.0 OK\r\n');
    replies.written();
    done();
  }
  await turn();
  assert.equal(socket.writableNeedDrain, false);
  assert.ok(packets.length > 1 && packets.length < 20, `${packets.length} packets`);
});

test('the end of the connection sends what waits', async () => {
  const { packets, socket } = recorder();
  new PipelinedReplies().begin(socket);
  socket.write('221 Bye\r\n');
  socket.end();
  await turn();
  assert.deepEqual(packets, ['221 Bye\r\n']);
});
