/** A mail process for the memory tests: all its listeners, and its memory use on request. */
import { subscribe } from 'node:diagnostics_channel';
import type net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerCalls } from '#bench/child-calls.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { startMail } from '#mail/start.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { testLog } from '#test/support/services.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const clients = new Set<net.Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: net.Socket };
  clients.add(socket);
  socket.once('close', () => clients.delete(socket));
});

const services = await openServices(readSettings(process.env), testLog());
const mail = await startMail(services, { lookup: dnsStub() });

const calls = {
  async listeners() {
    return { smtp: mail.smtp, imap: mail.imap };
  },
  /** Bytes that JavaScript holds, buffers outside its heap included, and those of the whole process. */
  async memory() {
    for (let i = 0; i < 4; i++) {
      collectGarbage();
      await delay(10); // buffers are freed behind the collection
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    return { held: heapUsed + external, rss };
  },
  /** Bytes of the connections that are open: what clients have sent, and what the operating system took of the answers. */
  async activity() {
    let [read, written] = [0, 0];
    for (const socket of clients) {
      read += socket.bytesRead;
      written += socket.bytesWritten;
    }
    const { user, system } = process.cpuUsage();
    return { connections: clients.size, read, written, cpuMs: (user + system) / 1_000 };
  },
};
export type MeasuredMailCalls = typeof calls;

answerCalls(calls, async () => {
  await mail.close();
  await services.close();
});
