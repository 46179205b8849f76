/**
 * Downloads a file from an address that somebody gave, never from an internal network. Every host, including that of a
 * redirect, is checked like a webhook destination, and the request is sent to a checked address only, without cookies or
 * credentials.
 */
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { rootCertificates, type TLSSocket } from 'node:tls';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { type ConnectAttempts, connectAttempts } from '#core/webhooks/requests/connection-pools.ts';
import {
  checkDestination,
  type DestinationPolicy,
  isPublicAddress,
} from '#core/webhooks/requests/destination-guard.ts';
import { FAILURE_REASON_MAX_CHARACTERS } from '#domain/webhooks/delivery-limits.ts';

export type PublicDownload =
  | {
      readonly ok: true;
      readonly url: URL;
      readonly contentType: string;
      readonly disposition: string | undefined;
      readonly bytes: Buffer;
    }
  /** `reason` is for people. */
  | { readonly ok: false; readonly reason: string };

export interface DownloadOptions {
  readonly policy: DestinationPolicy;
  /** PEM certificates trusted in addition to those of Node (development and tests). */
  readonly extraCa?: readonly string[] | undefined;
  /** From the look-up of the first host to the last byte, including redirects. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly redirectsMax: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a declared media type, lower case, is wanted. Default: every one. */
  readonly accepts?: (contentType: string) => boolean;
  /** Addresses with `http:` are fetched by HTTPS; without it they are refused. */
  readonly upgrade?: true;
  /** Why a type is not wanted, for people. */
  readonly unwanted?: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

type Fetched = PublicDownload | { readonly redirect: string };

const failed = (reason: string): PublicDownload => ({ ok: false, reason });

/**
 * @param address `https:`; with `upgrade` also `http:`
 * @returns never rejects: failures are outcomes
 */
export async function downloadPublic(address: string, options: DownloadOptions): Promise<PublicDownload> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  const endsAt = performance.now() + options.timeoutMs;
  let next = address;
  for (let step = 0; step <= options.redirectsMax; step++) {
    const fetched = await fetchStep(next, options, signal, endsAt);
    if (!('redirect' in fetched)) return fetched;
    next = fetched.redirect;
  }
  return failed('too many redirects');
}

async function fetchStep(
  address: string,
  options: DownloadOptions,
  signal: AbortSignal,
  endsAt: number,
): Promise<Fetched> {
  const url = URL.parse(address);
  if (url === null) return failed('not an address');
  if (options.upgrade === true && url.protocol === 'http:') url.protocol = 'https:';
  const checked = await unlessAborted(checkDestination(url.href, options.policy), signal);
  if (checked === undefined) return failed('no answer within the time limit');
  if (!checked.ok) return failed(checked.message);
  // The other half of what is left is for TLS and the answer.
  const attempts = connectAttempts(checked.addresses, (endsAt - performance.now()) / 2);
  try {
    return await request(checked.url, attempts, options, signal);
  } catch (error) {
    return failed(
      signal.aborted ? 'no answer within the time limit' : reasonOf(error).slice(0, FAILURE_REASON_MAX_CHARACTERS),
    );
  }
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return Promise.race([promise, aborted]);
}

function request(
  url: URL,
  { addresses, attemptMs }: ConnectAttempts,
  {
    policy,
    extraCa,
    maxBytes,
    headers,
    accepts = () => true,
    unwanted = 'not of a type that is wanted',
  }: DownloadOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  const lookup: LookupFunction = (_host, { all }, done) => {
    const [first] = addresses;
    if (all === true) done(null, [...addresses]);
    else if (first !== undefined) done(null, first.address, first.family);
  };
  return new Promise((resolve, reject) => {
    // Node passes it on to the connection; its types do not know it here.
    const connecting = { lookup, autoSelectFamilyAttemptTimeout: attemptMs };
    const asked = https.request(url, {
      ...connecting,
      agent: false,
      signal,
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
      ...(extraCa === undefined ? {} : { ca: [...rootCertificates, ...extraCa] }),
      headers: { 'accept-encoding': 'identity', 'user-agent': 'Mozilla/5.0', ...headers },
    });
    asked.once('error', reject);
    asked.once('socket', (socket) => {
      // An address in the URL is connected to without a look-up; it was checked, and is checked again here.
      socket.once('connect', () => {
        const { remoteAddress } = socket as TLSSocket;
        if (remoteAddress === undefined) asked.destroy(new Error('the connection broke at once'));
        else if (!isPublicAddress(remoteAddress, policy))
          asked.destroy(new Error('connected to an address that is not publicly routable'));
      });
    });
    asked.once('response', (response) => {
      const status = response.statusCode ?? 0;
      const end = (outcome: Fetched) => {
        response.destroy();
        resolve(outcome);
      };
      const { location } = response.headers;
      if (REDIRECTS.has(status) && location !== undefined) {
        const target = URL.parse(location, url.href);
        return end(target === null ? failed('a redirect to no address') : { redirect: target.href });
      }
      if (status !== 200) return end(failed(`answered ${status}`));
      const [declared = ''] = String(response.headers['content-type'] ?? '').split(';');
      const contentType = declared.trim().toLowerCase();
      if (!accepts(contentType)) return end(failed(unwanted));
      if (Number(response.headers['content-length'] ?? 0) > maxBytes) return end(failed('too large'));
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) end(failed('too large'));
        else chunks.push(chunk);
      });
      response.once('error', reject);
      response.once('end', () => {
        const disposition = response.headers['content-disposition'];
        end({ ok: true, url, contentType, disposition, bytes: Buffer.concat(chunks) });
      });
    });
    asked.end();
  });
}
