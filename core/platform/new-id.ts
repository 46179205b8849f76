import { randomFillSync } from 'node:crypto';
import { ID_PREFIXES, type IdKind } from '#domain/ids.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const POOL_BYTES = 8_192;
const RANDOM_BYTES = 10;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;
let lastTimeMs = -1;
let timeText = '';

/**
 * A new id: prefix and UUIDv7 in base32, see `domain/ids.ts`. Ids made in the same millisecond are in no order.
 *
 * @param nowMs time of creation; given by callers whose rows must fall into a certain day's partition
 */
export function newId(kind: IdKind, nowMs: number = Date.now()): string {
  if (nowMs !== lastTimeMs) {
    // 48 bits of time are exactly the first ten characters (two leading zero bits), so they are shared by a millisecond.
    let rest = nowMs;
    let text = '';
    for (let i = 0; i < TIME_CHARACTERS; i++) {
      text = ALPHABET.charAt(rest % 32) + text;
      rest = Math.floor(rest / 32);
    }
    timeText = text;
    lastTimeMs = nowMs;
  }
  if (used + RANDOM_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  bytes[0] = ((bytes[0] ?? 0) & 0x0f) | 0x70; // version 7
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80; // variant 10
  let text = ID_PREFIXES[kind] + timeText;
  for (let i = 0; i < RANDOM_BYTES; i += 5) text += fiveBytes(bytes, i);
  return text;
}

/** Five bytes are exactly eight base32 characters. */
function fiveBytes(bytes: Uint8Array, at: number): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at, at + 5);
  return (
    ALPHABET.charAt(a >> 3) +
    ALPHABET.charAt(((a & 7) << 2) | (b >> 6)) +
    ALPHABET.charAt((b >> 1) & 31) +
    ALPHABET.charAt(((b & 1) << 4) | (c >> 4)) +
    ALPHABET.charAt(((c & 15) << 1) | (d >> 7)) +
    ALPHABET.charAt((d >> 2) & 31) +
    ALPHABET.charAt(((d & 3) << 3) | (e >> 5)) +
    ALPHABET.charAt(e & 31)
  );
}
