/**
 * Orders a certificate from an authority by ACME (RFC 8555), with the challenge HTTP-01 (§8.3). One call is one order,
 * from the directory to the chain; it keeps nothing. Requests are signed with ES256 (RFC 7518 §3.4).
 *
 * An authority is trusted to issue certificates and nothing else: its answers are limited in size and time, and only
 * addresses with https: are asked.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificateRequest } from './x509-certificate.ts';

const ANSWER_MAX_BYTES = 256 * 1024;
const ANSWER_WITHIN_MS = 30_000;
/** An authority takes a nonce back at any time (RFC 8555 §6.5). */
const NONCE_TRIES = 6;
const POLL_FIRST_MS = 500;
const POLL_MAX_MS = 10_000;
const RETRY_AFTER_MAX_MS = 60_000;
const PROBLEM_CHARACTERS_MAX = 400;

/** What an authority answered instead of going on. */
export class AcmeError extends Error {
  /** `rateLimited`, `unauthorized`, `dns`, … (RFC 8555 §6.7); empty: not known. */
  readonly type: string;
  /** How long it wants to be left alone. */
  readonly retryAfterMs: number | undefined;
  constructor(message: string, type = '', retryAfterMs?: number) {
    super(message);
    this.name = 'AcmeError';
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface AcmeOrder {
  /** Address of the directory of the authority. */
  readonly directory: string;
  /** PEM, of `newAccountKey`. */
  readonly accountKey: string;
  /** For notices of the authority. */
  readonly email: string | undefined;
  readonly names: readonly string[];
  /** Roots that the authority's own server is checked with, PEM; undefined: those of Node. */
  readonly roots: string | undefined;
  /** Ends the order. */
  readonly signal: AbortSignal;
  /**
   * Lets `http://<name>/.well-known/acme-challenge/<token>` answer the text. Resolves when it does; the text is needed
   * until the order ends.
   */
  present(token: string, text: string): Promise<void>;
}

interface IssuedCertificate {
  /** PEM, the certificate first. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A key of an account, as PEM. */
export const newAccountKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const base64url = (data: string | Buffer): string => Buffer.from(data).toString('base64url');
const headerOf = ({ headers }: Answer, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** Members of the public key in the order of its thumbprint (RFC 7638 §3). */
function jwkOf(key: KeyObject): { readonly crv: string; readonly kty: string; readonly x: string; readonly y: string } {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty, x, y };
}

/** @throws {AcmeError} if the authority refuses, does not answer, or answers something else */
export async function orderCertificate(order: AcmeOrder): Promise<IssuedCertificate> {
  const { directory: directoryUrl, names, signal } = order;
  const key = createPrivateKey(order.accountKey);
  const jwk = jwkOf(key);
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  let nonce: string | undefined;
  /** After the registration. */
  const signer: { account?: string } = {};

  async function send(method: 'GET' | 'HEAD' | 'POST', url: string, body?: string): Promise<Answer> {
    signal.throwIfAborted();
    const answer = await exchange(method, url, body, order.roots, signal);
    nonce = headerOf(answer, 'replay-nonce') ?? nonce;
    return answer;
  }
  /** @param payload empty: a GET with a signature (§6.3) */
  async function post(url: string, payload: object | ''): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      if (nonce === undefined) await send('HEAD', directory.newNonce);
      const used = nonce;
      nonce = undefined;
      const header = {
        alg: 'ES256',
        nonce: used,
        url,
        ...(signer.account === undefined ? { jwk } : { kid: signer.account }),
      };
      const head = base64url(JSON.stringify(header));
      const content = payload === '' ? '' : base64url(JSON.stringify(payload));
      const signature = sign('sha256', Buffer.from(`${head}.${content}`), { key, dsaEncoding: 'ieee-p1363' });
      const answer = await send(
        'POST',
        url,
        JSON.stringify({ protected: head, payload: content, signature: base64url(signature) }),
      );
      if (answer.status < 400) return answer;
      const error = problemOf(answer);
      if (error.type !== 'badNonce' || tries >= NONCE_TRIES) throw error;
    }
  }
  const read = async (url: string): Promise<Fields> => fieldsOf(await post(url, ''));

  /** Asks until a resource has one of these states. */
  async function awaitStatus(url: string, ends: readonly string[]): Promise<Fields> {
    for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, POLL_MAX_MS)) {
      const answer = await post(url, '');
      const found = fieldsOf(answer);
      if (ends.includes(found.text('status'))) return found;
      if (found.text('status') === 'invalid') throw invalid(found);
      await sleep(retryAfterMs(answer) ?? pauseMs, undefined, { signal });
    }
  }

  const found = fieldsOf(await send('GET', directoryUrl));
  const directory = {
    newNonce: found.url('newNonce'),
    newAccount: found.url('newAccount'),
    newOrder: found.url('newOrder'),
  };
  const contact = order.email === undefined ? {} : { contact: [`mailto:${order.email}`] };
  // Of a key that has an account it answers that one (§7.3).
  const registered = await post(directory.newAccount, { termsOfServiceAgreed: true, ...contact });
  signer.account = httpsOf(headerOf(registered, 'location'));

  const ordered = await post(directory.newOrder, { identifiers: names.map((value) => ({ type: 'dns', value })) });
  const orderUrl = httpsOf(headerOf(ordered, 'location'));
  for (const url of fieldsOf(ordered).urls('authorizations')) {
    const authorization = await read(url);
    if (authorization.text('status') === 'valid') continue;
    const challenge = authorization.list('challenges').find((each) => each.text('type') === 'http-01');
    if (challenge === undefined) throw new AcmeError('the authority offers no challenge by HTTP');
    const token = challenge.text('token');
    if (!/^[\w-]{16,256}$/.test(token)) throw new AcmeError('the authority gave a token of another form');
    await order.present(token, `${token}.${thumbprint}`);
    await post(challenge.url('url'), {});
    await awaitStatus(url, ['valid']);
  }
  const finalize = (await awaitStatus(orderUrl, ['ready', 'valid'])).url('finalize');
  const { keyPem, request: csr } = makeCertificateRequest(names);
  await post(finalize, { csr: base64url(csr) });
  const issued = await awaitStatus(orderUrl, ['valid']);
  const chain = await post(issued.url('certificate'), '');
  if (!chain.text.includes('-----BEGIN CERTIFICATE-----')) throw new AcmeError('the authority sent no certificate');
  return { chain: chain.text, key: keyPem };
}

/** Members of a JSON object from outside, each read as what it must be. */
interface Fields {
  /** Empty if it is no text. */
  text(name: string): string;
  /** @throws {AcmeError} */
  url(name: string): string;
  urls(name: string): string[];
  list(name: string): Fields[];
  readonly value: Readonly<Record<string, unknown>>;
}

function fieldsIn(value: unknown): Fields {
  const members: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const listed = (name: string): unknown[] => {
    const found = members[name];
    return Array.isArray(found) ? found : [];
  };
  return {
    value: members,
    text: (name) => (typeof members[name] === 'string' ? members[name] : ''),
    url: (name) => httpsOf(members[name]),
    urls: (name) => listed(name).map(httpsOf),
    list: (name) => listed(name).map(fieldsIn),
  };
}

function fieldsOf(answer: Answer): Fields {
  if (answer.status >= 400) throw problemOf(answer);
  try {
    return fieldsIn(JSON.parse(answer.text));
  } catch {
    throw new AcmeError('the authority answered no JSON');
  }
}

function httpsOf(value: unknown): string {
  if (typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:') return value;
  throw new AcmeError('the authority named no address with https:');
}

const shortened = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, PROBLEM_CHARACTERS_MAX);
const typeOf = (problem: Fields): string => problem.text('type').replace(/^urn:ietf:params:acme:error:/, '');

function problemOf(answer: Answer): AcmeError {
  let problem: Fields;
  try {
    problem = fieldsIn(JSON.parse(answer.text));
  } catch {
    problem = fieldsIn({});
  }
  const text = shortened(problem.text('detail')) || `status ${answer.status}`;
  return new AcmeError(text, typeOf(problem), retryAfterMs(answer, Number.POSITIVE_INFINITY));
}

/** Of an authorization or order that failed. */
function invalid(found: Fields): AcmeError {
  const errors = [
    fieldsIn(found.value['error']),
    ...found.list('challenges').map((each) => fieldsIn(each.value['error'])),
  ];
  const error = errors.find((each) => each.text('detail') !== '');
  return new AcmeError(shortened(error?.text('detail') ?? 'the authority calls it invalid'), error && typeOf(error));
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(answer: Answer, maxMs = RETRY_AFTER_MAX_MS): number | undefined {
  const value = headerOf(answer, 'retry-after');
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.min(ms, maxMs));
}

function exchange(
  method: string,
  url: string,
  body: string | undefined,
  roots: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(signal.aborted ? error : new AcmeError(`no answer: ${error.message}`));
    const asked = request(
      httpsOf(url),
      {
        method,
        agent: false,
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        headers: {
          'user-agent': 'agent-mailbox',
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
        },
        ...(roots === undefined ? {} : { ca: roots }),
      },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          parts.push(part);
          if (size > ANSWER_MAX_BYTES) response.destroy(new Error('the answer is too long'));
        });
        response.on('error', fail);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    asked.on('error', fail);
    asked.end(body);
  });
}
