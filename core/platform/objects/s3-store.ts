/**
 * An S3-compatible object storage: three requests on objects, each with its time, its attempts and a limit of what is read.
 * Whatever it answers is checked: a part must have the length that was asked for.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { blobRequestsTotal } from '#core/platform/log/metrics.ts';
import {
  OBJECT_BYTES_PER_MS,
  OBJECT_REQUEST_MAX_MS,
  OBJECT_REQUEST_TRIES,
  OBJECT_RETRY_MS,
} from '#domain/mail/blob-storage.ts';
import { ObjectStoreError } from './object-store-error.ts';

export interface S3Settings {
  /** Without a path: `https://s3.example.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Before the name of each object; empty: none. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface ObjectStore {
  put(name: string, bytes: Buffer): Promise<void>;
  /** Exactly these bytes, which the object must have. */
  get(name: string, from: number, length: number): Promise<Buffer>;
  remove(name: string): Promise<void>;
}

const ANSWER_SHOWN_MAX = 200;
const NOT_FOUND = 404;
const PARTIAL = 206;
const TOO_MANY = 429;

/** An answer after which the same request may succeed. */
class Transient extends Error {}

export function s3Store(settings: S3Settings, waitMs = OBJECT_RETRY_MS): ObjectStore {
  const { endpoint, region, bucket, prefix, accessKeyId, secretAccessKey } = settings;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
  const base = `${endpoint.replace(/\/$/, '')}/${encodeURIComponent(bucket)}/`;
  const urlOf = (name: string): string => base + (prefix + name).split('/').map(encodeURIComponent).join('/');

  async function once<Result>(
    operation: string,
    name: string,
    init: RequestInit,
    bodyBytes: number,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const signed = await client.sign(urlOf(name), init);
    let outcome = 'failed';
    try {
      const response = await fetch(signed, {
        signal: AbortSignal.timeout(OBJECT_REQUEST_MAX_MS + Math.ceil(bodyBytes / OBJECT_BYTES_PER_MS)),
        redirect: 'error',
      });
      if (response.status >= 500 || response.status === TOO_MANY) {
        await response.body?.cancel();
        throw new Transient(`it answered ${response.status}`);
      }
      const result = await read(response);
      outcome = 'ok';
      return result;
    } finally {
      blobRequestsTotal.inc({ operation, outcome });
    }
  }

  async function request<Result>(
    operation: string,
    name: string,
    init: RequestInit,
    bodyBytes: number,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    for (let tried = 1; ; tried++)
      try {
        return await once(operation, name, init, bodyBytes, read);
      } catch (error) {
        if (error instanceof ObjectStoreError) throw error;
        if (tried === OBJECT_REQUEST_TRIES)
          throw new ObjectStoreError(`the object storage failed: ${operation} of ${name}: ${reasonOf(error)}`, {
            cause: error,
          });
        await delay(waitMs * 2 ** (tried - 1));
      }
  }

  return {
    put: (name, bytes) =>
      request(
        'put',
        name,
        {
          method: 'PUT',
          body: new Uint8Array(bytes),
          // The server compares it with what it gets, so nothing that was cut is stored.
          headers: { 'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex') },
        },
        bytes.length,
        expectSuccess,
      ),
    get: (name, from, length) =>
      request('get', name, { headers: { range: `bytes=${from}-${from + length - 1}` } }, length, async (response) => {
        if (response.status === NOT_FOUND) {
          await response.body?.cancel();
          throw new ObjectStoreError(`the object storage has no object ${name}`);
        }
        if (response.status !== PARTIAL) await refuse(response);
        return exactly(response, length);
      }),
    remove: (name) =>
      request('remove', name, { method: 'DELETE' }, 0, async (response) => {
        if (response.status === NOT_FOUND) await response.body?.cancel();
        else await expectSuccess(response);
      }),
  };
}

async function expectSuccess(response: Response): Promise<void> {
  if (!response.ok) await refuse(response);
  await response.body?.cancel();
}

/** @throws {ObjectStoreError} with the beginning of the answer */
async function refuse(response: Response): Promise<never> {
  let text = '';
  const decoder = new TextDecoder();
  if (response.body !== null)
    for await (const part of response.body) {
      text += decoder.decode(part, { stream: true });
      if (text.length >= ANSWER_SHOWN_MAX) break;
    }
  throw new ObjectStoreError(
    `the object storage answered ${response.status}: ${text.slice(0, ANSWER_SHOWN_MAX).replaceAll(/\s+/g, ' ')}`,
  );
}

async function exactly(response: Response, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  if (response.body !== null)
    for await (const part of response.body) {
      if (at + part.length > length) throw new Transient(`it sent more than the ${length} bytes that were asked for`);
      bytes.set(part, at);
      at += part.length;
    }
  if (at < length) throw new Transient(`it sent ${at} of ${length} bytes`);
  return bytes;
}
