/** An IMAP client over TLS that takes answers as bytes, literals included. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import tls from 'node:tls';

/** One item of a FETCH answer: its bytes on the wire, and the value of a string, literal or NIL in it. */
export interface FetchedItem {
  readonly wire: Buffer;
  /** Null: NIL, or no string. */
  readonly content: Buffer | null;
}

export class ImapBytes {
  readonly #socket: tls.TLSSocket;
  #chunks: Buffer[] = [];
  #length = 0;
  #wake: (() => void) | undefined;
  #ended = false;
  #tags = 0;

  private constructor(socket: tls.TLSSocket) {
    this.#socket = socket;
    const ended = () => {
      this.#ended = true;
      this.#wake?.();
    };
    socket
      .on('data', (chunk: Buffer) => {
        this.#chunks.push(chunk);
        this.#length += chunk.length;
        this.#wake?.();
      })
      .on('close', ended)
      .on('error', ended);
  }

  static async logIn(port: number, user: string, password: string): Promise<ImapBytes> {
    const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const client = new ImapBytes(socket);
    await client.#line();
    assert.match(await client.command(`LOGIN ${user} ${password}`), /^OK /);
    return client;
  }

  #buffered(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #take(length: number): Buffer {
    const all = this.#buffered();
    this.#chunks = [all.subarray(length)];
    this.#length -= length;
    return all.subarray(0, length);
  }

  async #more(): Promise<void> {
    assert.ok(!this.#ended, 'the connection ended within an answer');
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  async #line(): Promise<Buffer> {
    for (;;) {
      const end = this.#buffered().indexOf('\r\n');
      if (end >= 0) return this.#take(end + 2);
      await this.#more();
    }
  }

  /** A line with the literals in it. */
  async #answer(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (;;) {
      const line = await this.#line();
      pieces.push(line);
      const announced = /\{(\d+)\}\r\n$/.exec(line.toString('latin1'));
      if (announced === null) return Buffer.concat(pieces);
      while (this.#length < Number(announced[1])) await this.#more();
      pieces.push(this.#take(Number(announced[1])));
    }
  }

  /** @returns the tagged answer without its tag */
  async command(text: string | Buffer, untagged: (answer: Buffer) => void = () => undefined): Promise<string> {
    const tag = `t${++this.#tags}`;
    this.#socket.write(Buffer.concat([Buffer.from(`${tag} `), Buffer.from(text), Buffer.from('\r\n')]));
    for (;;) {
      const answer = await this.#answer();
      const start = answer.toString('latin1', 0, tag.length + 1);
      if (start === `${tag} `) return answer.toString('latin1', tag.length + 1).trimEnd();
      untagged(answer);
    }
  }

  /** Several messages in one APPEND (RFC 3502). @returns their UIDs; or the refusal */
  async append(folder: string, messages: readonly Buffer[]): Promise<number[] | string> {
    const pieces: Buffer[] = [Buffer.from(`APPEND ${folder}`)];
    for (const message of messages) {
      const literal = ` ${message.includes(0) ? '~' : ''}{${message.length}+}\r\n`;
      pieces.push(Buffer.from(literal), message);
    }
    const answer = await this.command(Buffer.concat(pieces));
    const [, first, last = first] = /^OK \[APPENDUID \d+ (\d+)(?::(\d+))?\]/.exec(answer) ?? [];
    if (first === undefined) return answer;
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  }

  /** Items of one message by name, partial ones as `BODY[TEXT]<2>`. */
  async fetch(uid: number, items: readonly string[]): Promise<Map<string, FetchedItem>> {
    let found: Map<string, FetchedItem> | undefined;
    const answer = await this.command(`UID FETCH ${uid} (${items.join(' ')})`, (line) => {
      if (/^\* \d+ FETCH \(/.test(line.toString('latin1', 0, 40))) found = itemsOf(line);
    });
    assert.match(answer, /^OK /);
    return found ?? assert.fail(`no answer for ${uid}`);
  }

  /** @param keys texts in quotes go as literals */
  async search(keys: string): Promise<Set<number>> {
    const found = new Set<number>();
    const wire = keys.replace(/"([^"]*)"/g, (_, text: string) => `{${Buffer.byteLength(text)}+}\r\n${text}`);
    const answer = await this.command(`UID SEARCH CHARSET UTF-8 ${wire}`, (line) => {
      const [, uids] = /^\* SEARCH(.*)\r\n$/.exec(line.toString('latin1')) ?? [];
      for (const uid of uids?.match(/\d+/g) ?? []) found.add(Number(uid));
    });
    assert.match(answer, /^OK /, keys);
    return found;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Takes apart `* n FETCH (name value name value)`. */
function itemsOf(answer: Buffer): Map<string, FetchedItem> {
  const items = new Map<string, FetchedItem>();
  let at = answer.indexOf('(') + 1;
  while (answer[at] !== 0x29) {
    if (answer[at] === 0x20) at++;
    const nameStart = at;
    for (let inBrackets = false; inBrackets || answer[at] !== 0x20; at++) {
      if (answer[at] === 0x5b) inBrackets = true;
      else if (answer[at] === 0x5d) inBrackets = false;
    }
    const name = answer.toString('latin1', nameStart, at);
    const { end, content } = valueAt(answer, ++at);
    items.set(name, { wire: answer.subarray(at, end), content });
    at = end;
  }
  return items;
}

function valueAt(answer: Buffer, start: number): { end: number; content: Buffer | null } {
  if (answer[start] === 0x28) {
    let at = start + 1;
    while (answer[at] !== 0x29) at = answer[at] === 0x20 ? at + 1 : valueAt(answer, at).end;
    return { end: at + 1, content: null };
  }
  if (answer[start] === 0x22) {
    let at = start + 1;
    while (answer[at] !== 0x22) at += answer[at] === 0x5c ? 2 : 1;
    const text = answer.toString('latin1', start + 1, at).replace(/\\(.)/g, '$1');
    return { end: at + 1, content: Buffer.from(text, 'latin1') };
  }
  const literal = /^~?\{(\d+)\}\r\n/.exec(answer.toString('latin1', start, start + 20));
  if (literal !== null) {
    const from = start + literal[0].length;
    const end = from + Number(literal[1]);
    return { end, content: answer.subarray(from, end) };
  }
  let at = start;
  while (answer[at] !== 0x20 && answer[at] !== 0x29) at++;
  return { end: at, content: null };
}
