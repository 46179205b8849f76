/** Reads our own archive (`archive-format.ts`). Names of its entries are compared, never used as paths. */
import { hash } from 'node:crypto';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import {
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  type ArchivedFacts,
  BLOCK_BYTES,
  nextChain,
  readTarHeader,
} from './archive-format.ts';
import { asSpecialUse } from './folder-files.ts';
import type { OpenFile } from './mail-files.ts';
import { type MovedMessage, problem, type SourceItem, tooBig } from './moved-message.ts';
import { MovingError } from './moving-error.ts';

const JSON_MAX_BYTES = 4 * 1_048_576;
const FLAGS_MAX = 31;

type Json = Partial<Record<string, unknown>>;

/** @param file its name, for people @throws {MovingError} if it is no such archive, or of a later version */
export async function* readArchive(open: () => Promise<OpenFile>, file: string): AsyncGenerator<SourceItem> {
  const handle = await open();
  try {
    yield* readEntries(handle, file);
  } finally {
    await handle.close();
  }
}

async function* readEntries(handle: OpenFile, file: string): AsyncGenerator<SourceItem> {
  let [at, count, chain] = [0, 0, ''];
  let facts: { readonly number: string; readonly bytes: Buffer; readonly read: ArchivedFacts } | undefined;
  let isKnown = false;
  for (;;) {
    const block = await handle.read(at, BLOCK_BYTES);
    const header = block.length === BLOCK_BYTES ? readTarHeader(block) : undefined;
    if (header === undefined || header === 'end') {
      if (!isKnown) throw new MovingError(`${file} is no archive of a mailbox`);
      yield problem(`${file}, byte ${at}`, 'the archive ends here without its end: what follows is lost');
      return;
    }
    const { name, size, isFile } = header;
    const where = `${name.replaceAll(/[^\w./-]/g, '?')}, byte ${at}`;
    const from = at + BLOCK_BYTES;
    at = from + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    const [, number = '', ending] = /^messages\/(\d{1,12})\.(json|eml)$/.exec(name) ?? [];
    const limit = ending === 'eml' ? MESSAGE_MAX_BYTES : JSON_MAX_BYTES;
    const content = isFile && size <= limit ? await handle.read(from, size) : undefined;
    if (!isKnown) {
      if (name !== 'mailbox.json' || content === undefined) throw new MovingError(`${file} is no archive of a mailbox`);
      yield* readMailbox(asJson(content), file);
      isKnown = true;
    } else if (name === 'end.json' && content?.length === size) {
      const end = asJson(content);
      if (end['messages'] !== count || end['sha256'] !== chain)
        yield problem(file, 'messages are missing or changed: the checksum over all is another one');
      return;
    } else if (ending === 'json' && content?.length === size) {
      const read = factsOf(asJson(content));
      if (read === undefined) yield problem(where, 'what belongs to the message cannot be read: not imported');
      facts = read && { number, bytes: content, read };
    } else if (ending === 'eml' && facts?.number === number) {
      count++;
      if (content === undefined) yield tooBig(where, size);
      else if (content.length < size) yield problem(where, 'the archive ends inside of this message: not imported');
      else {
        chain = nextChain(chain, facts.bytes, content);
        if (hash('sha256', content) !== facts.read.sha256)
          yield problem(where, 'is damaged: the checksum is another one; imported as it is');
        yield messageOf(facts.read, content, where);
      }
      facts = undefined;
    } else yield problem(where, 'is not expected here: not imported');
  }
}

function asJson(bytes: Buffer): Json {
  try {
    const read: unknown = JSON.parse(bytes.toString());
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

function* readMailbox(mailbox: Json, file: string): Generator<SourceItem> {
  if (mailbox['format'] !== ARCHIVE_FORMAT) throw new MovingError(`${file} is no archive of a mailbox`);
  if (mailbox['version'] !== ARCHIVE_VERSION)
    throw new MovingError(`${file} is of another version of the service: import it with that version or a later one`);
  for (const each of Array.isArray(mailbox['folders']) ? (mailbox['folders'] as unknown[]) : []) {
    const { name, specialUse, subscribed } = (typeof each === 'object' && each !== null ? each : {}) as Json;
    if (typeof name === 'string')
      yield { kind: 'folder', name, specialUse: asSpecialUse(specialUse), subscribed: subscribed === true };
  }
}

function factsOf(json: Json): ArchivedFacts | undefined {
  const { folder, flags, keywords, internalDate, internalOffsetMinutes, receivedAt, threadId, sha256 } = json;
  // PostgreSQL takes neither other years nor NUL.
  const isDate = (value: unknown) =>
    typeof value === 'string' && /^\d{4}-/.test(value) && !Number.isNaN(new Date(value).getTime());
  const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0');
  const isTextOrNothing = (value: unknown) => typeof value !== 'string' || isText(value);
  const fits =
    [folder, threadId, sha256].every(isText) &&
    [json['envelopeFrom'], json['deliveredTo']].every(isTextOrNothing) &&
    Number.isInteger(flags) &&
    Number.isInteger(internalOffsetMinutes) &&
    Array.isArray(keywords) &&
    keywords.every(isText) &&
    isDate(internalDate) &&
    isDate(receivedAt);
  return fits ? (json as unknown as ArchivedFacts) : undefined; // the fields that are used were checked
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const messageOf = (facts: ArchivedFacts, bytes: Buffer, where: string): MovedMessage => ({
  kind: 'message',
  folder: facts.folder,
  where,
  bytes,
  flags: facts.flags & FLAGS_MAX,
  keywords: facts.keywords,
  date: new Date(facts.internalDate),
  offsetMinutes: facts.internalOffsetMinutes,
  more: {
    receivedAt: new Date(facts.receivedAt),
    envelopeFrom: textOrNull(facts.envelopeFrom),
    deliveredTo: textOrNull(facts.deliveredTo),
    thread: facts.threadId,
  },
});
