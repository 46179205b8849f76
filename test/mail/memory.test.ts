/**
 * What mail clients make the mail process hold. It runs in a process of its own that is asked, after a full garbage
 * collection, for the bytes of its heap and its buffers; clients are real sockets over TLS that stop in the middle.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import tls from 'node:tls';
import { type Child, startChild } from '#bench/child-calls.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { insertMailbox, type TestMailbox } from '#test/support/mail-world.ts';
import { openTestServices, testVariables } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { MeasuredMailCalls } from './measured-mail.ts';

const MIB_BYTES = 1_048_576;
const MESSAGES = 102_400;
const DIFFERENT_MESSAGES = 100;
/**
 * What a client that does not read may make the process hold: two portions of rows, two of contents, 64 KiB unwritten,
 * and 20 bytes for each message asked for.
 */
const STALLED_LIST_MAX_BYTES = 8 * MIB_BYTES;
/** Two slices, 64 KiB unwritten, and what decoding makes of a slice. */
const STALLED_MESSAGE_MAX_BYTES = 3 * MIB_BYTES;
/** The answers are longer than these and the buffers of the operating system together. */
const ANSWER_LEAST_BYTES = 16 * MIB_BYTES;
/** Memory that a message in transfer may use: its bytes are written to disk as they arrive. */
const UPLOAD_MAX_BYTES = MIB_BYTES;
const UPLOADS = 4;
/** Freed memory does not all go back to the operating system. */
const RESIDENT_MAX_BYTES = 64 * MIB_BYTES;
/** A process that answers only these looks takes less CPU between two of them. */
const WORKING_CPU_MS = 5;
const QUIET_LOOKS = 40;
const QUOTA_BYTES = 1e12;
const LONG_KEYWORDS = ['a', 'b'].map((letter) => `$${letter.repeat(60)}`);

let services: Services;
let child: Child<MeasuredMailCalls>;
let listeners: { imap: ListenerAddress; smtp: ListenerAddress };
let dataFolder: string;
let organizationId: string;
const clients = new Set<net.Socket>();

before(async () => {
  dataFolder = mkdtempSync(path.join(tmpdir(), 'memory-test-'));
  const variables = testVariables({ DATA_DIR: dataFolder });
  services = await openTestServices(variables);
  organizationId = newId('organization');
  await services.db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Acme', $2, 'unlimited')`, [
    organizationId,
    `acme-${randomBytes(4).toString('hex')}`,
  ]);
  child = await startChild<MeasuredMailCalls>(new URL('measured-mail.ts', import.meta.url), {
    ...variables,
    DATABASE_URL: services.settings.DATABASE_URL ?? '',
  });
  listeners = await child.call('listeners', undefined);
});
after(async () => {
  await child?.stop();
  await services?.close();
  if (dataFolder !== undefined) rmSync(dataFolder, { recursive: true, force: true });
});

/** A client that can stop reading. */
class PausingClient {
  readonly socket: net.Socket;
  /** Of the answer since the last command. */
  bytes = 0;
  #tag = 0;
  #tail = '';

  constructor(socket: net.Socket) {
    this.socket = socket;
    clients.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      this.#tail = (this.#tail + chunk.toString('latin1')).slice(-2_000);
    });
  }

  static async imap(account: TestMailbox): Promise<PausingClient> {
    const { host, port } = listeners.imap;
    const socket = tls.connect({ host, port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const client = new PausingClient(socket);
    await client.command(`LOGIN ${account.address} ${account.token}`);
    return client;
  }

  /** Sends a command and reads its answer to the end. */
  async command(text: string | Buffer): Promise<void> {
    this.start(text);
    await this.end();
  }

  /** Resolves when the answer has begun; then nothing more is read. */
  async stopWithin(text: string): Promise<void> {
    this.start(text);
    await once(this.socket, 'data');
    this.socket.pause();
  }

  start(text: string | Buffer): void {
    this.bytes = 0;
    this.#tail = '';
    this.socket.write(Buffer.concat([Buffer.from(`t${++this.#tag} `), Buffer.from(text), Buffer.from('\r\n')]));
  }

  /** Reads on, to the end of the answer. */
  async end(): Promise<void> {
    this.socket.resume();
    const line = new RegExp(`(?:^|\\n)t${this.#tag} (OK|NO|BAD).*\\r\\n$`);
    const [, status] = await waitUntil(
      `the end of command ${this.#tag}`,
      () => line.exec(this.#tail) ?? undefined,
      120_000,
    );
    assert.equal(status, 'OK', this.#tail.slice(-200));
  }

  async until(text: string): Promise<void> {
    await waitUntil(text, () => this.#tail.includes(text), 60_000);
    this.#tail = '';
  }
}

/** Resolves when the process works no more: it has written all that the operating system takes. */
async function stalled(): Promise<void> {
  let last = await child.call('activity', undefined);
  let quiet = 0;
  await waitUntil(
    'an end of writing',
    async () => {
      const now = await child.call('activity', undefined);
      quiet = now.written === last.written && now.cpuMs - last.cpuMs < WORKING_CPU_MS ? quiet + 1 : 0;
      last = now;
      return quiet >= QUIET_LOOKS;
    },
    120_000,
  );
}

type Memory = Awaited<ReturnType<MeasuredMailCalls['memory']>>;

/** Lets the operating system take back what was freed; what is held in fact stays however long one waits. */
async function assertBounded(before: Memory, maxBytes: number): Promise<void> {
  let more = '';
  const look = async () => {
    const now = await child.call('memory', undefined);
    const [held, resident] = [now.held - before.held, now.rss - before.rss];
    more = `${(held / MIB_BYTES).toFixed(1)} MiB more are held, ${(resident / MIB_BYTES).toFixed(1)} MiB are resident`;
    return held <= maxBytes && resident <= RESIDENT_MAX_BYTES;
  };
  await waitUntil('bounded memory', look, 10_000).catch(() => assert.fail(more));
}

/** What the process holds while it does nothing: the search text of messages filed before would be filled in sometime. */
async function atRest(): Promise<Memory> {
  await services.db.query(
    `insert into message_text (message_id, body, cut, words, header)
     select id, '', true, '', '' from message on conflict do nothing`,
  );
  return child.call('memory', undefined);
}

/** Lets the client stop in the middle of the answer, and looks what the process holds more. */
async function assertBoundedWhileStalled(client: PausingClient, command: string, maxBytes: number): Promise<void> {
  const before = await atRest();
  await client.stopWithin(command);
  await stalled();
  await assertBounded(before, maxBytes);
}

const message = (number: number): Buffer =>
  Buffer.from(
    `From: <bob@example.com>\r\nTo: <reader@agents.test>\r\nSubject: ${number}\r\nMessage-ID: <${number}@example.com>\r\n${'X-Padding: some words of a header\r\n'.repeat(15)}\r\n${'Words of a body.\r\n'.repeat(250)}`,
  );

const large = (): Buffer => {
  const head = `From: <bob@example.com>\r\nSubject: large\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nSee below.\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  const line = `${randomBytes(57).toString('base64')}\r\n`;
  return Buffer.from(
    `${head}${line.repeat(Math.floor((MESSAGE_MAX_BYTES - head.length - 20) / line.length))}--b--\r\n`,
  );
};

const literal = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`{${bytes.length}+}\r\n`), bytes]);

describe('memory of the mail process', () => {
  let account: TestMailbox;
  before(async () => {
    account = await insertMailbox(services, organizationId, 'reader', { quotaBytes: QUOTA_BYTES });
    const client = await PausingClient.imap(account);
    const flags = `(\\Seen \\Answered \\Flagged \\Draft ${LONG_KEYWORDS.join(' ')})`;
    const messages = Array.from({ length: DIFFERENT_MESSAGES }, (_, i) =>
      Buffer.concat([Buffer.from(` ${flags} `), literal(message(i))]),
    );
    await client.command(Buffer.concat([Buffer.from('APPEND INBOX'), ...messages]));
    await client.command('SELECT INBOX');
    for (let count = DIFFERENT_MESSAGES; count < MESSAGES; count *= 2) await client.command('COPY 1:* INBOX');
    await client.command('CREATE Large');
    await client.command(Buffer.concat([Buffer.from('APPEND Large '), literal(large())]));
  });

  afterEach(async () => {
    for (const client of clients) client.destroy();
    clients.clear();
    await waitUntil('all connections to end', async () => (await child.call('activity', undefined)).connections === 0);
  });

  for (const items of ['(UID FLAGS)', '(UID BODY.PEEK[HEADER])', '(UID BODY.PEEK[])', '(ENVELOPE BODYSTRUCTURE)'])
    it(`a client that stops reading FETCH of 100,000 messages ${items} makes the server buffer no answer`, async () => {
      const client = await PausingClient.imap(account);
      await client.command('SELECT INBOX');
      await client.command(`FETCH 1:500 ${items}`);
      const perMessage = client.bytes / 500;
      assert.ok(perMessage * MESSAGES > ANSWER_LEAST_BYTES);
      await assertBoundedWhileStalled(client, `FETCH 1:* ${items}`, STALLED_LIST_MAX_BYTES);
      if (items === '(UID FLAGS)') {
        await client.end();
        assert.ok(client.bytes > perMessage * MESSAGES, 'the answer came whole');
      }
    });

  for (const item of ['BODY.PEEK[]', 'BODY.PEEK[2]', 'BINARY.PEEK[2]'])
    it(`a client that stops reading ${item} of 30 MiB makes the server buffer a few slices`, async () => {
      const client = await PausingClient.imap(account);
      await client.command('SELECT Large');
      await client.command(`FETCH 1 ${item}<0.100000>`);
      await assertBoundedWhileStalled(client, `FETCH 1 ${item}`, STALLED_MESSAGE_MAX_BYTES);
      await client.end();
      assert.ok(client.bytes > ANSWER_LEAST_BYTES, 'the answer came whole');
    });

  it('messages of 30 MiB being received by APPEND are not kept in memory', async () => {
    const bytes = large();
    const uploads = await Promise.all(Array.from({ length: UPLOADS }, () => PausingClient.imap(account)));
    await uploads[0]?.command(Buffer.concat([Buffer.from('APPEND Large '), literal(bytes)]));
    await assertUploadsBounded(
      uploads.map((client) => client.socket),
      bytes.subarray(0, -1_000),
      async () => {
        for (const client of uploads) {
          client.start(`APPEND Large {${bytes.length}}`);
          await client.until('+ ');
        }
      },
    );
    for (const client of uploads) client.socket.write(Buffer.concat([bytes.subarray(-1_000), Buffer.from('\r\n')]));
    for (const client of uploads) await client.end();
  });

  it('messages of 30 MiB being received by SMTP are not kept in memory', async () => {
    const bytes = large();
    const { host, port } = listeners.smtp;
    const uploads = await Promise.all(
      Array.from({ length: UPLOADS }, async () => {
        const client = new PausingClient(net.connect({ host, port }));
        await client.until('220 ');
        return client;
      }),
    );
    await assertUploadsBounded(
      uploads.map((client) => client.socket),
      bytes,
      async () => {
        for (const client of uploads)
          for (const [line, reply] of [
            ['EHLO client.test', '250 '],
            ['MAIL FROM:<bob@example.com>', '250 '],
            [`RCPT TO:<${account.address}>`, '250 '],
            ['DATA', '354 '],
          ] as const) {
            client.socket.write(`${line}\r\n`);
            await client.until(reply);
          }
      },
    );
    for (const client of uploads) client.socket.write('.\r\n');
    for (const client of uploads) await client.until('250 2.6.0');
  });
});

/** Sends nearly all of a message over each socket, and compares what the process holds then with what it held before. */
async function assertUploadsBounded(
  sockets: readonly net.Socket[],
  bytes: Buffer,
  begin: () => Promise<void>,
): Promise<void> {
  await begin();
  const before = await atRest();
  const { read } = await child.call('activity', undefined);
  for (const socket of sockets) socket.write(bytes);
  const sent = bytes.length * sockets.length;
  await waitUntil(
    'all bytes to be read',
    async () => (await child.call('activity', undefined)).read - read >= sent,
    120_000,
  );
  await assertBounded(before, UPLOAD_MAX_BYTES * sockets.length);
}
