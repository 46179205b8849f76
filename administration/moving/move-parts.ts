/**
 * Files of exports and imports in the database, in parts that are encrypted (AES-256-GCM, a nonce for each) with the key
 * of their row. Where a part is, in which file of which move, is authenticated: parts cannot be exchanged.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sql } from '#db/database.ts';
import { MOVE_PART_MAX_BYTES } from '#domain/mailbox-moves.ts';
import { MovingError } from './moving-error.ts';

export const PART_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Part {
  readonly at: number;
  readonly size: number;
  readonly bytes: Buffer;
}

export interface MoveParts {
  /** Adds one part, if this run is the one that may. @returns false: it is not, or the row was deleted */
  write(file: string, at: number, bytes: Buffer, runner: string | null): Promise<boolean>;
  /** Bytes from `at` on, fewer at the end of the file. */
  read(file: string, at: number, length: number): Promise<Buffer>;
  /** What is behind `size` bytes of a file goes, if this run is the one that may. */
  cut(file: string, size: number, runner: string): Promise<void>;
}

/** The lock of the row waits for a claim by another run: after that this run writes no more. */
const INSERT = `
  insert into mailbox_move_part (move_id, file, at, size, bytes)
  select id, $2, $3, $4, $5 from (
    select id from mailbox_move where id = $1 and runner is not distinct from $6 for share) as own returning 1`;

const CUT = `
  with own as (select id from mailbox_move where id = $1 and runner = $4 for share)
  delete from mailbox_move_part p using own where p.move_id = own.id and p.file = $2 and p.at >= $3`;

const OVERLAPPING = `
  select at, size, bytes from mailbox_move_part
   where move_id = $1 and file = $2 and at > $3::bigint - ${MOVE_PART_MAX_BYTES} and at < $4 and at + size > $3
   order by at`;

/** @param key 32 bytes */
export function moveParts(sql: Sql, id: string, key: Buffer): MoveParts {
  const place = (file: string, at: number) => Buffer.from(`${id}\n${file}\n${at}`);
  // The last part stays at hand: headers and lines are read a few bytes at a time.
  let last: (Part & { readonly file: string }) | undefined;

  function opened(file: string, { at, bytes: sealed }: Part): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(place(file, at))
      .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]);
  }

  return {
    async write(file, at, bytes, runner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place(file, at));
      const sealed = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
      return (await sql.query(INSERT, [id, file, at, bytes.length, sealed, runner])).length > 0;
    },
    async read(file, at, length) {
      const end = at + length;
      if (last !== undefined && last.file === file && last.at <= at && end <= last.at + last.size)
        return last.bytes.subarray(at - last.at, end - last.at);
      const parts: Buffer[] = [];
      let next = at;
      for (const part of await sql.query<Part & object>(OVERLAPPING, [id, file, at, end])) {
        if (part.at > next) throw new MovingError('a part of the file is missing: begin anew');
        const bytes = opened(file, part);
        parts.push(bytes.subarray(next - part.at, Math.min(end, part.at + part.size) - part.at));
        next = Math.min(end, part.at + part.size);
        last = { file, at: part.at, size: part.size, bytes };
      }
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    },
    async cut(file, size, runner) {
      await sql.query(CUT, [id, file, size, runner]);
    },
  };
}
