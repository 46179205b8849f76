/**
 * Fetches a remote picture of a mail on behalf of the reader's browser: without cookies, without the reader's address,
 * and never from an internal network (`public-download.ts`).
 */
import type { DestinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import {
  REMOTE_IMAGE_MAX_BYTES,
  REMOTE_IMAGE_REDIRECTS_MAX,
  REMOTE_IMAGE_TIMEOUT_MS,
  REMOTE_IMAGE_TYPES,
  type RemoteImageType,
} from '#domain/mail/mail-limits.ts';
import { downloadPublic } from './public-download.ts';

export type RemoteImage =
  | { readonly ok: true; readonly contentType: RemoteImageType; readonly bytes: Buffer }
  /** `reason` is for people. */
  | { readonly ok: false; readonly reason: string };

export interface RemoteImageOptions {
  readonly policy: DestinationPolicy;
  /** PEM certificates trusted in addition to those of Node (development and tests). */
  readonly extraCa?: readonly string[];
  readonly timeoutMs?: number;
}

const NO_PICTURE = 'not a picture that is shown';

/**
 * @param address `https:`, or `http:`, which is fetched by HTTPS
 * @returns never rejects: failures are outcomes
 */
export async function fetchRemoteImage(
  address: string,
  { policy, extraCa, timeoutMs = REMOTE_IMAGE_TIMEOUT_MS }: RemoteImageOptions,
): Promise<RemoteImage> {
  const fetched = await downloadPublic(address, {
    policy,
    extraCa,
    timeoutMs,
    maxBytes: REMOTE_IMAGE_MAX_BYTES,
    redirectsMax: REMOTE_IMAGE_REDIRECTS_MAX,
    upgrade: true,
    headers: { accept: REMOTE_IMAGE_TYPES.join(', ') },
    accepts: (type) => REMOTE_IMAGE_TYPES.some((known) => known === type),
    unwanted: NO_PICTURE,
  });
  if (!fetched.ok) return fetched;
  const contentType = typeOfBytes(fetched.bytes);
  return contentType === undefined
    ? { ok: false, reason: NO_PICTURE }
    : { ok: true, contentType, bytes: fetched.bytes };
}

/** The type of the bytes, whatever the server declared. */
function typeOfBytes(bytes: Buffer): RemoteImageType | undefined {
  const text = (from: number, to: number) => bytes.subarray(from, to).toString('latin1');
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (/^GIF8[79]a$/.test(text(0, 6))) return 'image/gif';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp';
  if (text(4, 8) === 'ftyp' && /avi[fs]/.test(text(8, 32))) return 'image/avif';
  return undefined;
}
