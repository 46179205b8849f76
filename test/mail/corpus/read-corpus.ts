/**
 * The messages of this folder, each with its expected results. `<name>.eml` contains the bytes (the largest are made by
 * `generated-messages.ts`), `<name>.expected.json` the expectations; README.md says where they come from.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { generatedMessage } from './generated-messages.ts';

/** Length and hash stand for bytes, and for texts too long to be written down (their hash is over UTF-8 or wire bytes). */
export interface Digest {
  readonly octets: number;
  readonly sha256: string;
}

/** A long list by its length and ends. */
export interface ListEnds<T> {
  readonly count: number;
  readonly first: T;
  readonly last: T;
}

export interface ExpectedAttachment {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly contentId: string | null;
  readonly inline: boolean;
  /** Left out: none. */
  readonly risks?: readonly string[];
}

type List<T> = readonly T[] | ListEnds<T>;

/** What the messages API shows. */
export interface ExpectedView {
  readonly subject: string;
  readonly from: string | null;
  readonly to: List<string>;
  readonly cc: List<string>;
  readonly bcc: List<string>;
  readonly replyTo: readonly string[];
  readonly sentAt: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly text: string | Digest;
  readonly html: string | Digest | null;
  readonly truncated: boolean;
  readonly extractedText?: string;
  readonly attachments: List<ExpectedAttachment>;
}

export interface CorpusMessage {
  /** `<group>/<name>`. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly about: string;
  /** Wire text with one character per byte. */
  readonly envelope: string | Digest;
  readonly bodystructure: string | Digest;
  /** By FETCH item. Null: there is no such part. */
  readonly sections: Readonly<Record<string, Digest | 'UNKNOWN-CTE' | null>>;
  /** SEARCH keys and whether they find this message. */
  readonly search?: readonly { readonly query: string; readonly found: boolean }[];
  readonly api: ExpectedView;
}

const ENDING = '.expected.json';

export const corpus: readonly CorpusMessage[] = globSync(`**/*${ENDING}`, { cwd: import.meta.dirname })
  .map((file) => file.replaceAll('\\', '/').slice(0, -ENDING.length))
  .sort()
  .map((name) => {
    const file = path.join(import.meta.dirname, name);
    const expected: Omit<CorpusMessage, 'name' | 'bytes'> = JSON.parse(readFileSync(`${file}${ENDING}`, 'utf8'));
    return { name, bytes: bytesOf(name, `${file}.eml`), ...expected };
  });

function bytesOf(name: string, file: string): Buffer {
  const bytes = generatedMessage(name);
  assert.notEqual(bytes !== undefined, existsSync(file), `${name} is either a file or generated`);
  return bytes ?? readFileSync(file);
}

export const digest = (bytes: Uint8Array): Digest => ({
  octets: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

const sameForm = (actual: Buffer, expected: unknown): unknown =>
  typeof expected === 'string' || expected === null ? actual.toString() : digest(actual);

/** Wire text against what is expected of it. */
export function assertWire(actual: Uint8Array, expected: string | Digest, what: string): void {
  if (typeof expected === 'string') assert.equal(Buffer.from(actual).toString('latin1'), expected, what);
  else assert.deepEqual(digest(actual), expected, what);
}

const withRisks = (list: ExpectedView['attachments']): unknown => {
  const filled = (each: ExpectedAttachment) => ({ risks: [], ...each });
  return 'first' in list ? { ...list, first: filled(list.first), last: filled(list.last) } : list.map(filled);
};

/** A view (of the API or of what is stored) against what is expected; keys the view lacks are passed over. */
export function assertView(actual: Readonly<Record<string, unknown>>, expected: ExpectedView, what: string): void {
  for (const [key, wanted] of Object.entries(expected)) {
    if (!(key in actual)) continue;
    const value = actual[key];
    let shown: unknown = value;
    if ((key === 'text' || key === 'html') && typeof value === 'string') shown = sameForm(Buffer.from(value), wanted);
    if (Array.isArray(value) && !Array.isArray(wanted))
      shown = { count: value.length, first: value[0], last: value.at(-1) };
    assert.deepEqual(shown, key === 'attachments' ? withRisks(expected.attachments) : wanted, `${what}: ${key}`);
  }
}
