/** Answers of SASL mechanisms, in base64 as received. Undefined: not valid for the mechanism. */

export interface SaslCredentials {
  readonly address: string;
  readonly token: string;
}

/** The challenge of XOAUTH2 and OAUTHBEARER after a failure (RFC 7628 §3.2.2); the client's answer to it is ignored. */
export const BEARER_FAILURE = Buffer.from(JSON.stringify({ status: 'invalid_token' })).toString('base64');

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const decoded = (answer: string): string | undefined =>
  BASE64.test(answer) ? Buffer.from(answer, 'base64').toString('utf8') : undefined;

/** PLAIN (RFC 4616). Nobody acts for somebody else: an authorization identity must be the same address. */
export function readPlain(answer: string): SaslCredentials | undefined {
  const [authorization, address, token, more] = decoded(answer)?.split('\0') ?? [];
  if (authorization === undefined || !address || !token || more !== undefined) return undefined;
  if (authorization !== '' && authorization.toLowerCase() !== address.toLowerCase()) return undefined;
  return { address, token };
}

/** XOAUTH2: `user=<address>^Aauth=Bearer <token>^A^A`. */
export function readXoauth2(answer: string): SaslCredentials | undefined {
  const [, address, token] = /^user=([^\x01]+)\x01auth=bearer +([^\x01 ]+)\x01\x01$/i.exec(decoded(answer) ?? '') ?? [];
  return address === undefined || token === undefined ? undefined : { address, token };
}

/** LOGIN, without a standard: the address and the token, each an answer of its own. */
export function readLogin(first: string, second: string): SaslCredentials | undefined {
  const address = decoded(first);
  const token = decoded(second);
  return !address || !token ? undefined : { address, token };
}

/** OAUTHBEARER (RFC 7628 §3.1): `n,a=<address>,^A[key=value^A…]auth=Bearer <token>^A^A`. */
export function readOauthbearer(answer: string): SaslCredentials | undefined {
  const [header = '', ...pairs] = (decoded(answer) ?? '').split('\x01');
  const address = /^[ny],a=([^,]+),$/.exec(header)?.[1]?.replace(/=2c/gi, ',').replace(/=3d/gi, '=');
  const token = pairs.map((pair) => /^auth=bearer +(\S+)$/i.exec(pair)?.[1]).find((found) => found !== undefined);
  return address === undefined || token === undefined ? undefined : { address, token };
}
