/**
 * Questions to a resolver that validates DNSSEC (RFC 4035), with what it says about the answer: the AD bit. Node's own
 * resolver does not show that bit. It counts from a resolver on this machine only: anybody on the path to another one can
 * set it (RFC 6840 §5.8).
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import net from 'node:net';
import packet, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';
import ipaddr from 'ipaddr.js';

export type ValidatedType = 'A' | 'AAAA' | 'MX' | 'TLSA';

export type ValidatedAnswer =
  /** `secure`: the resolver has validated the answer, also one that there is nothing. */
  | { readonly kind: 'answered'; readonly secure: boolean; readonly records: readonly Answer[] }
  /** No answer, or one that fails validation (SERVFAIL). */
  | { readonly kind: 'failed' };

export type AskValidated = (name: string, type: ValidatedType) => Promise<ValidatedAnswer>;

const ANSWER_WITHIN_MS = 4_000;
const TRIES = 2;
/** RFC 9715: larger answers come by TCP. */
const UDP_MAX_BYTES = 1_232;
const TCP_MAX_BYTES = 65_537;

interface Server {
  readonly host: string;
  readonly port: number;
}

function serverOf(written: string): Server {
  const [, six, sixPort] = /^\[([^\]]+)\](?::(\d+))?$/.exec(written) ?? [];
  if (six !== undefined) return { host: six, port: Number(sixPort ?? 53) };
  const [, four, fourPort] = /^([\d.]+):(\d+)$/.exec(written) ?? [];
  return { host: four ?? written, port: Number(fourPort ?? 53) };
}

const isHere = ({ host }: Server): boolean => ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';

/**
 * @param servers as DNS_SERVERS; empty: those of the system
 * @returns undefined unless every resolver is on this machine
 */
export function validatedDns(servers: readonly string[]): AskValidated | undefined {
  const all = (servers.length > 0 ? servers : getServers()).map(serverOf);
  if (all.length === 0 || !all.every(isHere)) return undefined;
  return async (name, type) => {
    for (let attempt = 0; attempt < TRIES; attempt++)
      for (const server of all) {
        const answer = await ask(server, name, type).catch(() => undefined);
        // SERVFAIL is what a validating resolver says of an answer that is forged: another one may have no such fault.
        if (answer !== undefined && answer.kind === 'answered') return answer;
      }
    return { kind: 'failed' };
  };
}

const CLASS_IN = 'IN';

async function ask(server: Server, name: string, type: ValidatedType): Promise<ValidatedAnswer> {
  const question: Packet = {
    type: 'query',
    id: randomInt(65_536),
    flags: packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA,
    questions: [{ name, type, class: CLASS_IN }],
    // No signatures are needed, only what the resolver says of them (RFC 6840 §5.7).
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_MAX_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
  const matches = (answer: DecodedPacket): boolean => {
    const [asked] = answer.questions ?? [];
    return (
      answer.id === question.id &&
      answer.type === 'response' &&
      asked?.type === type &&
      asked.name.toLowerCase() === name.toLowerCase()
    );
  };
  let answer = await askByUdp(server, question, matches);
  if (answer.flag_tc) answer = await askByTcp(server, question, matches);
  const code = Reflect.get(answer, 'rcode');
  if (code !== 'NOERROR' && code !== 'NXDOMAIN') return { kind: 'failed' };
  return {
    kind: 'answered',
    secure: answer.flag_ad,
    records: (answer.answers ?? []).filter((record) => record.type === type),
  };
}

/** From a port that nobody can guess; answers of others are passed over. */
function askByUdp(
  { host, port }: Server,
  question: Packet,
  matches: (answer: DecodedPacket) => boolean,
): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const end = (finish: () => void) => {
      clearTimeout(timer);
      socket.close();
      finish();
    };
    const timer = setTimeout(() => end(() => reject(new Error('no answer'))), ANSWER_WITHIN_MS);
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('message', (bytes) => {
      const answer = decoded(() => packet.decode(bytes));
      if (answer !== undefined && matches(answer)) end(() => resolve(answer));
    });
    // Connected: the system drops what does not come from the resolver.
    socket.connect(port, host, () => socket.send(packet.encode(question)));
  });
}

function askByTcp(
  { host, port }: Server,
  question: Packet,
  matches: (answer: DecodedPacket) => boolean,
): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, host, () => socket.write(packet.streamEncode(question)));
    let received = Buffer.alloc(0);
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('no answer')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > TCP_MAX_BYTES) return void socket.destroy();
      if (received.length < 2 || received.length < received.readUInt16BE(0) + 2) return;
      const answer = decoded(() => packet.decode(received.subarray(2)));
      if (answer !== undefined && matches(answer)) resolve(answer);
      socket.destroy();
    });
  });
}

/** Undefined: it is damaged. */
function decoded(decode: () => DecodedPacket): DecodedPacket | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
