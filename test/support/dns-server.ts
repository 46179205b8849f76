/** A name server on loopback with the records of a test (RFC 1035 §4), which can pose as a validating resolver. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import ipaddr from 'ipaddr.js';

export type DnsRecord = {
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'TXT' | 'SRV' | 'TLSA';
  readonly name: string;
  readonly value: string;
};

export interface TestDns {
  /** `address:port`, as DNS_SERVERS takes it. */
  readonly address: string;
  /** What it answers from now on; names not among them do not exist. */
  records: readonly DnsRecord[];
  /** Set to leave every question without an answer. */
  silent: boolean;
  /** What becomes of a question about a name (in lower case); set it to lose, fail or delay some. */
  treat: (name: string) => 'answered' | 'slow' | 'lost' | 'failed' | 'truncated';
  /** Whether answers about a name (in lower case) are said to be validated, to those who ask for that. */
  validated: (name: string) => boolean;
  /** Questions so far, by name. */
  readonly asked: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const TYPES = { A: 1, AAAA: 28, CNAME: 5, MX: 15, PTR: 12, TXT: 16, SRV: 33, TLSA: 52 } as const;
/** Just in time for a resolver that waits two seconds: several in a row take longer than anybody waits. */
const SLOW_ANSWER_MS = 1_600;
const TTL_SECONDS = 1;
const RESPONSE = 0x8580;
const AUTHENTIC = 0x0020;
const TRUNCATED = 0x0200;
const SERVER_FAILURE = 2;
const NAME_ERROR = 3;
const HEADER_BYTES = 12;
const TXT_STRING_MAX = 255;

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

function encodeData({ type, value }: DnsRecord): Buffer {
  if (type === 'A' || type === 'AAAA') return Buffer.from(ipaddr.parse(value).toByteArray());
  if (type === 'TLSA') {
    const [usage, selector, matching, data = ''] = value.split(' ');
    return Buffer.concat([Buffer.from([usage, selector, matching].map(Number)), Buffer.from(data, 'hex')]);
  }
  if (type === 'CNAME' || type === 'PTR') return encodeName(value);
  if (type === 'MX') {
    const [preference = '0', host = ''] = value.split(' ');
    const number = Buffer.alloc(2);
    number.writeUInt16BE(Number(preference));
    return Buffer.concat([number, encodeName(host)]);
  }
  if (type === 'SRV') {
    const [priority, weight, port, host = ''] = value.split(' ');
    const numbers = Buffer.alloc(6);
    for (const [index, number] of [priority, weight, port].entries()) numbers.writeUInt16BE(Number(number), 2 * index);
    return Buffer.concat([numbers, encodeName(host)]);
  }
  const strings: Buffer[] = [];
  for (let at = 0; at < value.length; at += TXT_STRING_MAX) {
    const text = Buffer.from(value.slice(at, at + TXT_STRING_MAX));
    strings.push(Buffer.from([text.length]), text);
  }
  return Buffer.concat(strings);
}

function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function answer(question: Buffer, records: readonly DnsRecord[]): Buffer {
  const { name, end } = readName(question);
  const type = question.readUInt16BE(end);
  const ofName = records.filter((record) => record.name.toLowerCase() === name);
  const found = ofName.filter((record) => TYPES[record.type] === type);
  const header = Buffer.alloc(HEADER_BYTES);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(RESPONSE | (ofName.length === 0 ? NAME_ERROR : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  const answers = found.map((record) => {
    const data = encodeData(record);
    const fixed = Buffer.alloc(12);
    fixed.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    fixed.writeUInt16BE(type, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt32BE(TTL_SECONDS, 6);
    fixed.writeUInt16BE(data.length, 10);
    return Buffer.concat([fixed, data]);
  });
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end + 4), ...answers]);
}

function failure(question: Buffer): Buffer {
  const reply = Buffer.from(question.subarray(0, readName(question).end + 4));
  reply.writeUInt16BE(RESPONSE | SERVER_FAILURE, 2);
  reply.writeUInt16BE(1, 4);
  reply.fill(0, 6, HEADER_BYTES);
  return reply;
}

/** UDP and TCP on one port, which the system chooses. */
async function openBoth(): Promise<{ socket: Socket; stream: net.Server }> {
  for (;;) {
    const stream = net.createServer().listen(0, '127.0.0.1');
    await once(stream, 'listening');
    const socket = createSocket('udp4');
    socket.bind((stream.address() as net.AddressInfo).port, '127.0.0.1');
    // Another program may have the port for UDP.
    const isOpen = await once(socket, 'listening').then(
      () => true,
      () => false,
    );
    if (isOpen) return { socket, stream };
    stream.close();
  }
}

export async function testDns(): Promise<TestDns> {
  const { socket, stream } = await openBoth();
  const asked = new Map<string, number>();
  let closed = false;
  const dns: TestDns = {
    address: `127.0.0.1:${socket.address().port}`,
    records: [],
    silent: false,
    treat: () => 'answered',
    validated: () => false,
    asked,
    close() {
      closed = true;
      stream.close();
      return new Promise((resolve) => socket.close(() => resolve()));
    },
  };
  const replyTo = (message: Buffer, fate: ReturnType<TestDns['treat']>): Buffer => {
    if (fate === 'failed') return failure(message);
    const reply = answer(message, fate === 'truncated' ? [] : dns.records);
    const asksForIt = (message.readUInt16BE(2) & AUTHENTIC) !== 0;
    const flags =
      (asksForIt && dns.validated(readName(message).name) ? AUTHENTIC : 0) | (fate === 'truncated' ? TRUNCATED : 0);
    reply.writeUInt16BE(reply.readUInt16BE(2) | flags, 2);
    return reply;
  };
  // By TCP, where an answer was truncated.
  stream.on('connection', (client) =>
    client
      .on('error', () => {})
      .on('data', (bytes) => {
        const reply = replyTo(bytes.subarray(2), 'answered');
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        client.end(Buffer.concat([length, reply]));
      }),
  );
  socket.on('message', (message, from) => {
    const { name } = readName(message);
    asked.set(name, (asked.get(name) ?? 0) + 1);
    const fate = dns.silent ? 'lost' : dns.treat(name);
    if (fate === 'lost') return;
    const reply = replyTo(message, fate);
    const send = () => void (closed || socket.send(reply, from.port, from.address));
    if (fate === 'slow') setTimeout(send, SLOW_ANSWER_MS).unref();
    else send();
  });
  return dns;
}
