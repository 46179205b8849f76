/**
 * Encryption of objects in chunks, so that a part can be read alone: AES-256-GCM with a key for each object. The nonce is
 * the number of the chunk. Content, size and number are authenticated, so that chunks cannot be moved, left out or
 * exchanged, and an object that was cut does not open.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { OBJECT_CHUNK_BYTES } from '#domain/mail/blob-storage.ts';

const TAG_BYTES = 16;
const NONCE_BYTES = 12;
export const OBJECT_KEY_BYTES = 32;
const SEALED_CHUNK_BYTES = OBJECT_CHUNK_BYTES + TAG_BYTES;

interface Content {
  readonly sha256: Uint8Array;
  /** Bytes. */
  readonly size: number;
}

const chunksOf = ({ size }: Pick<Content, 'size'>): number => Math.max(1, Math.ceil(size / OBJECT_CHUNK_BYTES));

/** Bytes of the whole object. */
export const sealedSize = (size: number): number => size + chunksOf({ size }) * TAG_BYTES;

function parameters({ sha256, size }: Content, chunk: number): { nonce: Buffer; aad: Buffer } {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(chunk, NONCE_BYTES - 4);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(size, 0);
  numbers.writeUInt32BE(chunk, 4);
  return { nonce, aad: Buffer.concat([sha256, numbers]) };
}

export function sealObject(key: Uint8Array, sha256: Uint8Array, bytes: Buffer): Buffer {
  const content = { sha256, size: bytes.length };
  const parts: Buffer[] = [];
  for (let chunk = 0; chunk < chunksOf(content); chunk++) {
    const { nonce, aad } = parameters(content, chunk);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad);
    const plain = bytes.subarray(chunk * OBJECT_CHUNK_BYTES, (chunk + 1) * OBJECT_CHUNK_BYTES);
    parts.push(cipher.update(plain), cipher.final(), cipher.getAuthTag());
  }
  return Buffer.concat(parts);
}

export interface SealedRange {
  readonly firstChunk: number;
  /** In the object. */
  readonly from: number;
  readonly length: number;
}

/** The chunks that contain a range of the content, which is not empty. */
export function sealedRange({ size }: Pick<Content, 'size'>, from: number, length: number): SealedRange {
  const firstChunk = Math.floor(from / OBJECT_CHUNK_BYTES);
  const lastChunk = Math.floor((from + length - 1) / OBJECT_CHUNK_BYTES);
  const start = firstChunk * SEALED_CHUNK_BYTES;
  return {
    firstChunk,
    from: start,
    length: Math.min((lastChunk + 1) * SEALED_CHUNK_BYTES, sealedSize(size)) - start,
  };
}

/** The content of whole chunks. @throws if a byte of them, or what they are said to be, is another */
export function openChunks(key: Uint8Array, content: Content, firstChunk: number, sealed: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, chunk = firstChunk; at < sealed.length; at += SEALED_CHUNK_BYTES, chunk++) {
    const { nonce, aad } = parameters(content, chunk);
    const part = sealed.subarray(at, at + SEALED_CHUNK_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      .setAAD(aad)
      .setAuthTag(part.subarray(part.length - TAG_BYTES));
    parts.push(decipher.update(part.subarray(0, part.length - TAG_BYTES)), decipher.final());
  }
  return Buffer.concat(parts);
}
