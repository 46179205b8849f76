/**
 * The attachments of a request, read when the message is submitted or the draft is saved: whatever is approved, hashed
 * and sent afterwards are these bytes.
 */
import { readFile } from 'node:fs/promises';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  ATTACHMENT_URL_REDIRECTS_MAX,
  ATTACHMENT_URL_TIMEOUT_MS,
  ATTACHMENT_URLS_PER_MINUTE_MAX,
  FILE_LIFE_HOURS,
} from '#domain/mail/file-limits.ts';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { fileNameOf, findFile, readFileBytes } from '#mailstore/files/file-store.ts';
import { readAttachment } from '#mailstore/messages/message-content.ts';
import { downloadPublic } from '#mailstore/messages/public-download.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';
import type { ComposedAttachment } from './compose-message.ts';

/** One attachment, given in exactly one of four ways: file, attachment of a message, URL, content. */
interface GivenAttachment {
  readonly fileId?: string;
  readonly messageId?: string;
  readonly attachmentId?: string;
  readonly url?: string;
  readonly contentBase64?: string;
  /** Default: that of the file. */
  readonly filename?: string;
  /** Default: that of the file; needed with `contentBase64`. */
  readonly contentType?: string;
  readonly contentId?: string;
}

type Parts = Pick<Services, 'db' | 'settings' | 'now'>;

/** Where an attachment comes from, with its own name and type. */
interface Source {
  readonly filename: string | undefined;
  readonly contentType: string;
  readonly content: Buffer;
}

const MINUTE_MS = 60_000;
const OCTETS = 'application/octet-stream';
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}\s*$/;

const wrong = (path: string, message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });

/**
 * @throws {CatalogueError} invalid_request with the place of what is wrong, payload_too_large, rate_limited
 */
export async function readAttachments(
  parts: Parts,
  mailboxId: string,
  given: readonly GivenAttachment[],
): Promise<ComposedAttachment[]> {
  for (const [i, attachment] of given.entries()) requireOneSource(attachment, `/attachments/${i}`);
  const read: ComposedAttachment[] = [];
  let left = MESSAGE_MAX_BYTES;
  for (const [i, attachment] of given.entries()) {
    const source = await readSource(parts, mailboxId, attachment, `/attachments/${i}`, left);
    left -= source.content.length;
    read.push({
      filename: attachment.filename ?? source.filename,
      contentType: attachment.contentType ?? source.contentType,
      content: source.content,
      contentId: attachment.contentId,
    });
  }
  return read;
}

function requireOneSource(given: GivenAttachment, path: string): void {
  const { fileId, messageId, attachmentId, url, contentBase64, contentType } = given;
  const ways = [fileId, messageId ?? attachmentId, url, contentBase64].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw wrong(path, 'must have one of fileId, messageId with attachmentId, url, or contentBase64 with contentType');
  if (messageId === undefined && attachmentId !== undefined) throw wrong(`${path}/messageId`, 'is required');
  if (messageId !== undefined && attachmentId === undefined) throw wrong(`${path}/attachmentId`, 'is required');
  if (contentBase64 !== undefined && contentType === undefined) throw wrong(`${path}/contentType`, 'is required');
}

const tooLarge = (): CatalogueError =>
  new CatalogueError('payload_too_large', `A message has at most ${MESSAGE_MAX_BYTES} bytes.`, {
    fix: 'Send fewer or smaller attachments, or a link to them. Base64 makes an attachment a third longer.',
  });

async function readSource(
  parts: Parts,
  mailboxId: string,
  given: GivenAttachment,
  path: string,
  maxBytes: number,
): Promise<Source> {
  const { fileId, messageId, attachmentId, url, contentBase64 = '' } = given;
  if (fileId !== undefined) return ofFile(parts, mailboxId, fileId, `${path}/fileId`, maxBytes);
  if (messageId !== undefined && attachmentId !== undefined)
    return ofMessage(parts, mailboxId, { messageId, attachmentId, path, maxBytes });
  if (url !== undefined) return ofUrl(parts, mailboxId, url, `${path}/url`, maxBytes);
  if (!BASE64.test(contentBase64)) throw wrong(`${path}/contentBase64`, 'must be base64');
  return { filename: undefined, contentType: OCTETS, content: Buffer.from(contentBase64, 'base64') };
}

async function ofFile(
  { db, now }: Parts,
  mailboxId: string,
  id: string,
  path: string,
  maxBytes: number,
): Promise<Source> {
  const file = await findFile(db, mailboxId, id, now());
  if (file === undefined)
    throw wrong(
      path,
      `is not an uploaded file of this mailbox; files are deleted ${FILE_LIFE_HOURS} hours after their upload`,
    );
  if (file.sizeBytes > maxBytes) throw tooLarge();
  return { ...file, content: await readFileBytes(db, id, file.sizeBytes) };
}

async function ofMessage(
  { db }: Parts,
  mailboxId: string,
  {
    messageId,
    attachmentId,
    path,
    maxBytes,
  }: { messageId: string; attachmentId: string; path: string; maxBytes: number },
): Promise<Source> {
  const message = await findMessage(db, mailboxId, messageId);
  if (message === undefined) throw wrong(`${path}/messageId`, 'is not a message of this mailbox');
  const found = await readAttachment(db, message, attachmentId);
  if (found === undefined) throw wrong(`${path}/attachmentId`, 'is not an attachment of this message');
  const { info, bytes } = found;
  if (bytes.length > maxBytes) throw tooLarge();
  const contentType = MEDIA_TYPE.test(info.contentType) ? info.contentType : OCTETS;
  return { filename: info.filename ?? undefined, contentType, content: bytes };
}

async function ofUrl(
  { db, settings, now }: Parts,
  mailboxId: string,
  url: string,
  path: string,
  maxBytes: number,
): Promise<Source> {
  const { used, resetsInMs } = await countUse(db, `attachment-urls:${mailboxId}`, MINUTE_MS, now());
  if (used > ATTACHMENT_URLS_PER_MINUTE_MAX)
    throw new CatalogueError('rate_limited', 'Too many attachments were fetched by their URL.', {
      retryAfterSeconds: Math.ceil(resetsInMs / 1_000),
    });
  const extraCa = settings.WEBHOOK_EXTRA_CA;
  const fetched = await downloadPublic(url, {
    policy: destinationPolicy(settings),
    extraCa: extraCa === undefined ? undefined : [await readFile(extraCa, 'utf8')],
    timeoutMs: ATTACHMENT_URL_TIMEOUT_MS,
    maxBytes,
    redirectsMax: ATTACHMENT_URL_REDIRECTS_MAX,
    headers: { accept: '*/*', 'user-agent': 'agent-mailbox' },
  });
  if (!fetched.ok) throw wrong(path, `could not be fetched: ${fetched.reason}`);
  const { contentType, disposition, bytes } = fetched;
  return {
    filename: fileNameOf(disposition) ?? fileNameOf(`x; filename*=UTF-8''${fetched.url.pathname}`),
    contentType: MEDIA_TYPE.test(contentType) ? contentType : OCTETS,
    content: bytes,
  };
}
