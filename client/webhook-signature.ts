/**
 * Signatures of webhooks (https://www.standardwebhooks.com): verifies those of the service, and makes some to test a
 * receiver with. WebCrypto alone, so that it runs in every runtime.
 *
 *     v1     HMAC-SHA256 with the secret of the endpoint, `whsec_…`
 *     v1a    Ed25519 with the key pair of the organization, verified with `whpk_…` or a key of its JSON Web Key Set
 */
import type { WebhookEvent } from './api-types.ts';

/** A request that is not a webhook of this endpoint. Answer it with 400. */
export class WebhookVerificationError extends Error {
  readonly code: 'missing_header' | 'invalid_secret' | 'wrong_time' | 'wrong_signature' | 'invalid_body';

  constructor(code: WebhookVerificationError['code'], message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

const PREFIX = 'whsec_';
const PUBLIC_KEY_PREFIX = 'whpk_';
const PRIVATE_KEY_PREFIX = 'whsk_';
const PUBLIC_KEY_BYTES = 32;

/** A public key of a JSON Web Key Set; other members are ignored. */
export interface WebhookJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Refuses keys in the place of a secret: with a public key, everybody could sign.
 *
 * @throws {WebhookVerificationError} invalid_secret
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const isKey = secret.startsWith(PUBLIC_KEY_PREFIX) || secret.startsWith(PRIVATE_KEY_PREFIX);
  const bytes = isKey ? undefined : bytesOfBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookVerificationError('invalid_secret', 'The secret is not one of an endpoint: whsec_… in base64.');
  return bytes;
}

/**
 * The bytes of a public key.
 *
 * @returns undefined: it is a secret
 * @throws {WebhookVerificationError} invalid_secret
 */
function publicKeyBytes(key: string | WebhookJwk): Uint8Array<ArrayBuffer> | undefined {
  if (typeof key === 'string' && !key.startsWith(PUBLIC_KEY_PREFIX)) return undefined;
  const bytes = typeof key === 'string' ? bytesOfBase64(key.slice(PUBLIC_KEY_PREFIX.length)) : bytesOfJwk(key);
  if (bytes?.length !== PUBLIC_KEY_BYTES)
    throw new WebhookVerificationError('invalid_secret', 'The public key is not one of Ed25519: whpk_…, or a JWK.');
  return bytes;
}

const bytesOfJwk = ({ kty, crv, x }: WebhookJwk): Uint8Array<ArrayBuffer> | undefined =>
  kty === 'OKP' && crv === 'Ed25519' && x !== undefined
    ? bytesOfBase64(x.replaceAll('-', '+').replaceAll('_', '/'))
    : undefined;

/** Headers of a request, as `fetch` or as Node has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the time of the attempt may be from ours; default 300 s. */
  readonly toleranceSeconds?: number;
  /** Default: the clock. */
  readonly now?: Date;
}

/** What a webhook is verified with. */
export type WebhookKey = string | WebhookJwk;

const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * The event of a webhook, after its signature was verified.
 *
 *   const event = await verifyWebhook(request.headers, await request.text(), secret);
 *   if (event.type === 'email_received') console.log(event.data.subject);
 *
 * @param rawBody exactly as received: JSON that was parsed and written again has another signature
 * @param secret `whsec_…`; or, for an endpoint with `publicKeySignature`, a public key: `whpk_…`, or one of the key set
 *   of the organization. Several during a rotation
 * @throws {WebhookVerificationError}
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: WebhookKey | readonly WebhookKey[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = new Date() } = options;
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1_000 - seconds) <= toleranceSeconds))
    throw new WebhookVerificationError(
      'wrong_time',
      `webhook-timestamp is not within ${toleranceSeconds} s of this machine’s time.`,
    );
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const keys = isList(secret) ? secret : [secret];
  if (!(await someMatch(keys, signatures, signed)))
    throw new WebhookVerificationError('wrong_signature', 'No signature of the request matches the secret or key.');
  try {
    // Signed by the service, which checks each event against the schema of this type.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('invalid_body', 'The signature is right, but the body is not JSON.');
  }
}

const isList = (keys: WebhookKey | readonly WebhookKey[]): keys is readonly WebhookKey[] => Array.isArray(keys);

/** The signatures of a version, `v1` (HMAC-SHA256) or `v1a` (Ed25519). */
const ofVersion = (signatures: string, version: string): Uint8Array<ArrayBuffer>[] =>
  signatures
    .split(' ')
    .filter((each) => each.startsWith(`${version},`))
    .map((each) => bytesOfBase64(each.slice(version.length + 1)))
    .filter((each) => each !== undefined);

/** @returns whether a `v1` signature matches one of the secrets, or a `v1a` signature one of the public keys */
async function someMatch(
  keys: readonly WebhookKey[],
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { subtle } = crypto;
  for (const given of keys) {
    const publicKey = publicKeyBytes(given);
    const isPublic = publicKey !== undefined;
    const algorithm = isPublic ? { name: 'Ed25519' } : { name: 'HMAC', hash: 'SHA-256' };
    const bytes = publicKey ?? secretBytes(typeof given === 'string' ? given : '');
    const key = await subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    // In constant time, as WebCrypto compares.
    for (const signature of ofVersion(signatures, isPublic ? 'v1a' : 'v1'))
      if (await subtle.verify(algorithm.name, key, signature, signed)) return true;
  }
  return false;
}

const hasGet = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers['get'] === 'function';

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = hasGet(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === 'string' ? value : value?.[0];
  if (text === undefined || text === '')
    throw new WebhookVerificationError('missing_header', `The request has no ${name}.`);
  return text;
}

/**
 * @param id `webhook-id`
 * @param body exactly as it will be sent
 * @param secret `whsec_…`
 * @throws {WebhookVerificationError} invalid_secret
 */
export async function signWebhook(
  id: string,
  body: string,
  secret: string,
  at: Date = new Date(),
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secretBytes(secret), algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  };
}
