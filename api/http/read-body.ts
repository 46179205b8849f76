import type { IncomingMessage } from 'node:http';
import { CatalogueError } from '#domain/errors.ts';
import { refuseUnstorableText } from './text-rules.ts';

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /charset="?([^\s;"]+)/i;

/**
 * Reads a JSON body and its text, which idempotency keys are compared by. An absent body counts as `{}`.
 *
 * @throws {CatalogueError} payload_too_large, unsupported_media_type, invalid_request
 */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<{ text: string; value: unknown }> {
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type } = request.headers;
  if (chunked === undefined && (length === undefined || length === '0')) return { text: '', value: {} };
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity')
    throw new CatalogueError('unsupported_media_type', 'A body with Content-Encoding is not accepted.', {
      fix: 'Send the body without compression.',
    });
  if (type === undefined || !JSON_TYPE.test(type)) throw new CatalogueError('unsupported_media_type');
  const charset = CHARSET.exec(type)?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw new CatalogueError('unsupported_media_type', 'JSON must be sent in UTF-8.', {
      fix: 'Encode the body in UTF-8 and leave the charset out.',
    });
  if (Number(length) > limitBytes) throw tooLarge(limitBytes);
  const text = await readText(request, limitBytes);
  if (text === '') return { text, value: {} };
  return { text, value: parseJson(text) };
}

const tooLarge = (limitBytes: number): CatalogueError =>
  new CatalogueError('payload_too_large', `The body is larger than the ${limitBytes} bytes that this path accepts.`);

/** A body as text. @throws {CatalogueError} payload_too_large, invalid_request */
export async function readText(request: IncomingMessage, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The connection must outlive a refusal, or the client never reads it.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limitBytes) throw tooLarge(limitBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CatalogueError) throw error;
    throw new CatalogueError('invalid_request', 'The body is shorter than Content-Length.', {
      fix: 'Send the whole body again.',
    });
  }
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CatalogueError('invalid_request', 'The body is not valid UTF-8.', { fix: 'Encode the body in UTF-8.' });
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new CatalogueError('invalid_request', 'The body is not valid JSON.', {
      details: [{ path: '', message: reason }],
      fix: 'Correct the JSON at the position in details.',
    });
  }
  // In valid JSON and UTF-8 only escapes can represent characters that cannot be stored.
  if (text.includes('\\u')) refuseUnstorableText(value);
  return value;
}
