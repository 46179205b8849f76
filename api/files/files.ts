/** From a request to the files of a mailbox. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Static } from 'typebox';
import type { Received } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import { FILE_MAX_BYTES, UPLOAD_URL_LIFE_MINUTES } from '#domain/mail/file-limits.ts';
import {
  completeFile,
  deleteFile,
  type FileRow,
  findFile,
  listFiles,
  reserveFile,
  returnUpload,
  safeFileName,
  takeUpload,
  uploadEnd,
  writeFileBytes,
} from '#mailstore/files/file-store.ts';
import type { NewUpload, Upload, UploadedFile } from './schema.ts';
import { NAME_DEFAULT, uploadedFile } from './upload.ts';

const MINUTE_MS = 60_000;

/** A mailbox of an organization, by its id. */
export interface FilesContext {
  readonly services: Services;
  readonly organization: { readonly id: string };
}

const presentFile = (row: FileRow): Static<typeof UploadedFile> => ({
  id: row.id,
  filename: row.filename,
  contentType: row.contentType,
  sizeBytes: row.sizeBytes,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
});

const missing = (): CatalogueError =>
  new CatalogueError('not_found', 'There is no such file: it was deleted, or its time is over.', {
    fix: 'Upload it again (POST …/files).',
  });

/** A received file that cannot be attached yet. */
interface ReceivedFile {
  readonly id: string;
  readonly sizeBytes: number;
}

/** @throws {CatalogueError} not_found (the mailbox), quota_exceeded, payload_too_large, invalid_request */
export async function receiveFile(
  { services, organization }: FilesContext,
  mailboxId: string,
  request: IncomingMessage,
  name: unknown,
): Promise<Received<ReceivedFile>> {
  const { db, now } = services;
  const mailbox = await getMailbox(db, organization.id, mailboxId);
  const file = await uploadedFile(request, typeof name === 'string' ? name : undefined);
  const owner = { organizationId: organization.id, mailboxId: mailbox.id };
  const { filename, contentType } = file;
  const reserved = await reserveFile(
    db,
    owner,
    {
      filename,
      contentType,
      sizeBytes: file.atMostBytes,
      state: 'receiving',
      uploadHash: null,
      expiresAt: uploadEnd(now()),
    },
    now(),
  );
  try {
    const hash = createHash('sha256');
    const sizeBytes = await writeFileBytes(db, reserved.id, hashing(file.bytes, hash));
    const text = JSON.stringify([filename, contentType, hash.digest('hex')]);
    return { value: { id: reserved.id, sizeBytes }, text };
  } catch (error) {
    await deleteFile(db, mailbox.id, reserved.id);
    throw error;
  }
}

async function* hashing(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    hash.update(part);
    yield part;
  }
}

export async function answerReceived({ services: { db, now } }: FilesContext, { id, sizeBytes }: ReceivedFile) {
  const row = await db.transaction((sql) => completeFile(sql, id, sizeBytes, now()));
  return { status: 201, body: presentFile(row) } as const;
}

/** An upload URL. Its credential is stored as a hash. */
export async function answerNewUpload(
  { services, organization }: FilesContext,
  mailboxId: string,
  body: Static<typeof NewUpload>,
  publicUrl: string,
): Promise<{ status: 201; body: Static<typeof Upload> }> {
  const { db, now, pepper } = services;
  const mailbox = await getMailbox(db, organization.id, mailboxId);
  const credential = newCredential('fileUpload');
  const { contentType = 'application/octet-stream', sizeBytes = FILE_MAX_BYTES } = body;
  const row = await reserveFile(
    db,
    { organizationId: organization.id, mailboxId: mailbox.id },
    {
      filename: safeFileName(body.filename) ?? NAME_DEFAULT,
      contentType,
      sizeBytes,
      state: 'expected',
      uploadHash: hashCredential(credential, pepper),
      expiresAt: new Date(now() + UPLOAD_URL_LIFE_MINUTES * MINUTE_MS),
    },
    now(),
  );
  return {
    status: 201,
    body: {
      fileId: row.id,
      url: `${publicUrl}/api/uploads/${credential}`,
      method: 'PUT',
      maxBytes: row.sizeBytes,
      expiresAt: row.expiresAt.toISOString(),
    },
  };
}

/** The one upload of an upload URL. Name and type are those it was made with. */
export async function receiveUpload(
  { db, now, pepper }: Services,
  request: IncomingMessage,
  credential: string,
): Promise<Received<FileRow>> {
  const taken = isCredential('fileUpload', credential)
    ? await takeUpload(db, hashCredential(credential, pepper), now())
    : undefined;
  if (taken === undefined)
    throw new CatalogueError('not_found', 'This upload URL is not valid: it was used, or its time is over.', {
      fix: 'Make a new one (POST …/files/uploads).',
    });
  try {
    const { bytes } = await uploadedFile(request, undefined);
    const sizeBytes = await writeFileBytes(db, taken.id, bytes, taken.maxBytes);
    return { value: await completeFile(db, taken.id, sizeBytes, now()), text: '' };
  } catch (error) {
    await returnUpload(db, taken.id, taken.validUntil);
    throw error;
  }
}

export const answerUploaded = (row: FileRow) => ({ status: 201, body: presentFile(row) }) as const;

export async function answerFiles(
  { services: { db, now }, organization }: FilesContext,
  mailboxId: string,
  query: { limit?: number; cursor?: string },
) {
  const mailbox = await getMailbox(db, organization.id, mailboxId);
  const page = pageOf('file', query);
  return { status: 200, body: listBody(await listFiles(db, mailbox.id, page, now()), page, presentFile) } as const;
}

export async function answerFile({ services: { db, now }, organization }: FilesContext, mailboxId: string, id: string) {
  const mailbox = await getMailbox(db, organization.id, mailboxId);
  const row = await findFile(db, mailbox.id, id, now());
  if (row === undefined) throw missing();
  return { status: 200, body: presentFile(row) } as const;
}

export async function answerDelete({ services: { db }, organization }: FilesContext, mailboxId: string, id: string) {
  const mailbox = await getMailbox(db, organization.id, mailboxId);
  if (!(await deleteFile(db, mailbox.id, id))) throw missing();
  return { status: 204 } as const;
}
