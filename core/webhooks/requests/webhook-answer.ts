/** What is kept of an answer: the beginning of its body and some header fields, without secrets. */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RESPONSE_BODY_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';

const KEPT_HEADERS_MAX = 40;
const KEPT_HEADER_MAX_CHARACTERS = 1_024;
const MASKED_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate', 'x-api-key']);

/**
 * The first 16 KiB of the decoded body. A body that breaks off, is damaged, or is still coming at the deadline changes
 * nothing: the status line has decided.
 */
export async function readBody(
  body: AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown },
  encoding: string | string[] | undefined,
): Promise<Buffer> {
  body.on('error', () => {}); // destroying a body that is still coming reports an abort
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > RESPONSE_BODY_LIMIT_BYTES) break;
    }
  } catch {
    body.destroy();
  }
  const raw = Buffer.concat(chunks).subarray(0, RESPONSE_BODY_LIMIT_BYTES);
  return encoding === undefined || raw.length === 0 ? raw : decodeStart(raw, String(encoding).toLowerCase());
}

/** Decodes the available beginning of a compressed body, up to the limit. Unknown codings are not decoded. */
async function decodeStart(raw: Buffer, encoding: string): Promise<Buffer> {
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) return raw;
  const chunks: Buffer[] = [];
  let size = 0;
  decoder.end(raw);
  try {
    for await (const chunk of decoder) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= RESPONSE_BODY_LIMIT_BYTES) break;
    }
  } catch {
    // Truncated or damaged: the part decoded so far is used.
  }
  decoder.destroy();
  return Buffer.concat(chunks).subarray(0, RESPONSE_BODY_LIMIT_BYTES);
}

/** Shorter values are no secrets, and would mask ordinary words. */
const SECRET_MIN_CHARACTERS = 8;
const HIDDEN = '[hidden]';

/** A server that echoes the request must not make the write-only authentication header readable. */
const masked = (text: string, secret: string | undefined): string =>
  secret === undefined || secret.length < SECRET_MIN_CHARACTERS ? text : text.replaceAll(secret, HIDDEN);

/** @param secret the value of the authentication header */
export const maskedBody = (body: Buffer, secret: string | undefined): Buffer =>
  secret === undefined || secret.length < SECRET_MIN_CHARACTERS || !body.includes(secret)
    ? body
    : Buffer.from(masked(body.toString('latin1'), secret), 'latin1');

/** @param secret the value of the authentication header */
export function keptHeaders(
  headers: Record<string, string | string[] | undefined>,
  secret: string | undefined,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers).slice(0, KEPT_HEADERS_MAX)) {
    const text = MASKED_HEADERS.has(name) ? HIDDEN : Array.isArray(value) ? value.join(', ') : (value ?? '');
    kept[name] = masked(text, secret).replaceAll('\0', '').slice(0, KEPT_HEADER_MAX_CHARACTERS);
  }
  return kept;
}

/** RFC 9110 §10.2.3: seconds or a date. */
export function retryAfterMs(value: string | string[] | undefined): number | undefined {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
