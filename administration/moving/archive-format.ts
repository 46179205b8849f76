/**
 * Our own archive: a tar file (POSIX ustar), so that any program can look into it. In this order:
 *
 *     mailbox.json             format, address, and the folders with their uses
 *     messages/<n>.json        folder, UID, flags, keywords, dates, thread, envelope, verdicts, size and SHA-256
 *     messages/<n>.eml         the message, byte for byte
 *     end.json                 the number of messages, and a SHA-256 over all of them
 */
import { hash } from 'node:crypto';

export const ARCHIVE_FILE = 'mailbox.tar';
export const ARCHIVE_FORMAT = 'agent-mailbox-archive';
export const ARCHIVE_VERSION = 1;
export const BLOCK_BYTES = 512;

/** What a message has beside its bytes. */
export interface ArchivedFacts {
  readonly folder: string;
  readonly uid: number;
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly internalDate: string;
  readonly internalOffsetMinutes: number;
  readonly receivedAt: string;
  readonly origin: string;
  readonly messageId: string;
  readonly threadId: string;
  readonly envelopeFrom: string | null;
  readonly deliveredTo: string | null;
  readonly auth: unknown;
  readonly size: number;
  readonly sha256: string;
}

/** The checksum over all messages, continued by one. */
export const nextChain = (chain: string, facts: Buffer, content: Buffer): string =>
  hash('sha256', `${chain}\n${hash('sha256', facts)}\n${hash('sha256', content)}`);

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** Two blocks of zeros. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);
/** Bytes of the last part of a name; what is before it may have 155. */
export const TAR_NAME_MAX_BYTES = 100;
/** The largest size in octal digits. */
const OCTAL_SIZE_MAX = 0o77777777777;
const SIZE_AT = 124;
const MODE_AT = 100;
const PREFIX_AT = 345;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/** Header, content and padding of a file. */
export const tarEntry = (name: string, content: Buffer, time: Date): Buffer[] => [
  tarHeader(name, content.length, time),
  content,
  tarPadding(content.length),
];

/**
 * @param name with `/`; of a folder one at its end. At most 100 bytes, or 155 before one of its `/` and 100 behind it
 * @param size bytes; above 8 GiB in the binary form that GNU tar, bsdtar and Python read
 */
export function tarHeader(name: string, size: number, time: Date): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const put = (text: string, at: number) => header.write(text, at);
  const isFolder = name.endsWith('/');
  const split = Buffer.byteLength(name) > TAR_NAME_MAX_BYTES ? name.lastIndexOf('/', name.length - 2) : -1;
  put(name.slice(split + 1), 0);
  if (split > 0) put(name.slice(0, split), PREFIX_AT);
  put(octal(isFolder ? FOLDER_MODE : FILE_MODE, 8), MODE_AT);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  if (size <= OCTAL_SIZE_MAX) put(octal(size, 12), SIZE_AT);
  else {
    header[SIZE_AT] = 0x80;
    header.writeBigUInt64BE(BigInt(size), SIZE_AT + 4);
  }
  put(octal(Math.max(0, Math.floor(time.getTime() / 1_000)), 12), 136);
  put('        ', 148);
  put(isFolder ? '5' : '0', 156);
  put('ustar\0', 257);
  put('00', 263);
  put(`${octal(checksumOf(header), 7)} `, 148);
  return header;
}

/** With its own field as blanks. */
const checksumOf = (header: Buffer): number =>
  header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);

export interface TarHeader {
  readonly name: string;
  readonly size: number;
  /** Letter or digit of the kind; empty in old archives. */
  readonly type: string;
  readonly modifiedAt: Date;
  readonly isFile: boolean;
}

/** Bytes; undefined: it is no number, or one that no file has. */
function sizeOf(header: Buffer): number | undefined {
  if (header[SIZE_AT] === 0x80) {
    const size = header.readBigUInt64BE(SIZE_AT + 4);
    return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
  }
  const octal = header
    .toString('latin1', SIZE_AT, SIZE_AT + 12)
    .replace(/\0.*$/s, '')
    .trim();
  return /^[0-7]{1,12}$/.test(octal) ? Number.parseInt(octal, 8) : undefined;
}

/** @returns undefined if the block is no header; `end` if it is the end of the archive */
export function readTarHeader(header: Buffer): TarHeader | 'end' | undefined {
  if (header.every((byte) => byte === 0)) return 'end';
  const text = (from: number, to: number) => header.toString('utf8', from, to).replace(/\0.*$/s, '');
  const size = sizeOf(header);
  if (size === undefined || Number.parseInt(text(148, 156), 8) !== checksumOf(header)) return undefined;
  const prefix = text(257, 263) === 'ustar' ? text(PREFIX_AT, BLOCK_BYTES) : '';
  const type = text(156, 157);
  return {
    name: prefix === '' ? text(0, TAR_NAME_MAX_BYTES) : `${prefix}/${text(0, TAR_NAME_MAX_BYTES)}`,
    size,
    type,
    modifiedAt: new Date((Number.parseInt(text(136, 148), 8) || 0) * 1_000),
    isFile: ['0', ''].includes(type),
  };
}
