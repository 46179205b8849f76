/**
 * Credentials of this service in outgoing mail: API keys, tokens, sessions, links that decide, signing secrets. Nobody needs
 * them in a mail, and their owner reads them elsewhere.
 */
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { CREDENTIAL_PREFIXES, type CredentialKind, isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import { rest } from '#mailstore/carried/carried-mail.ts';
import { readingsOf } from '#mime/carried/readings.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import type { OutgoingTexts } from './carried-texts.ts';

const KINDS = Object.entries(CREDENTIAL_PREFIXES) as [CredentialKind, string][];
/** Prefix, 43 characters, checksum (`domain/access/credential-format.ts`). */
const CREDENTIAL_CHARACTERS = 53;
const PREFIX = /am[a-z]_/g;
/** Standard Webhooks: 24 to 64 bytes in base64. */
const SIGNING_SECRET = /whsec_[A-Za-z0-9+/]{32,}/;
const NOT_OF_CREDENTIAL = /[^A-Za-z0-9_-]+/g;

/** Whether a text contains one, also with blanks, line breaks, quotation marks or other signs in it. */
export function hasCredential(text: string): boolean {
  if (SIGNING_SECRET.test(text)) return true;
  const joined = text.replace(NOT_OF_CREDENTIAL, '');
  for (const { index } of joined.matchAll(PREFIX)) {
    const given = joined.slice(index, index + CREDENTIAL_CHARACTERS);
    if (KINDS.some(([kind, prefix]) => given.startsWith(prefix) && isCredential(kind, given))) return true;
  }
  return false;
}

export const credentialRefused = (): CatalogueError =>
  new CatalogueError(
    'content_refused',
    'The message contains a key, token or secret of this service. Nothing was sent.',
    { fix: 'Remove it. A person or program that needs access gets a credential of its own.' },
  );

const SLICE_BYTES = 1_048_576;
const OVERLAP_BYTES = 512;

/** In all texts as they may be decoded, and in the bytes of all parts, however long they are. */
export async function carriesCredential(
  bytes: Buffer,
  read: Pick<ReadMessage, 'parts'>,
  { texts }: OutgoingTexts,
): Promise<boolean> {
  for (const { text } of texts)
    for (const { text: reading } of readingsOf(text, { cut: false })) {
      if (hasCredential(reading)) return true;
      if (reading.length > SLICE_BYTES / 16) await rest();
    }
  for (const { part } of leaves(read.parts)) {
    const content = Buffer.from(decodeTransfer(bytes.subarray(part.body, part.end), part.encoding));
    for (let at = 0; at < content.length; at += SLICE_BYTES) {
      if (hasCredential(content.toString('latin1', at, at + SLICE_BYTES + OVERLAP_BYTES))) return true;
      await rest();
    }
  }
  return false;
}
