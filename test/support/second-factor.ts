/** People with an authenticator app, whose codes are computed here by RFC 6238, and not by the library of the service. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type ApiWorld, at, TEST_PASSWORD, type TestPerson, textAt } from './api-world.ts';

const PERIOD_MS = 30_000;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6, without padding. */
function bytesOf(base32: string): Buffer {
  let bits = '';
  for (const each of base32) bits += BASE32.indexOf(each).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of a secret at a time (RFC 4226 §5.3, RFC 6238 §4). @param atMs milliseconds since 1970 */
export function totpCode(secret: string | Buffer, atMs: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / PERIOD_MS)));
  const mac = createHmac('sha1', typeof secret === 'string' ? bytesOf(secret) : secret)
    .update(counter)
    .digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

export interface PersonWithApp extends TestPerson {
  readonly secret: string;
  /** A code of now, as if no code had been entered yet. */
  code(): Promise<string>;
}

async function beginTotp(world: ApiWorld, person: TestPerson): Promise<PersonWithApp> {
  const begun = await world.call('POST', '/api/sessions/current/second-factor/totp', {
    as: person.session,
    body: { password: TEST_PASSWORD },
  });
  assert.equal(begun.status, 201, begun.text);
  const secret = textAt(begun.body, 'secret');
  return {
    ...person,
    secret,
    async code() {
      await world.sql(`update totp_factor set last_step = null where user_id = $1`, [person.userId]);
      return totpCode(secret, Date.now());
    },
  };
}

type PersonWithFactor = PersonWithApp & { readonly recoveryCodes: readonly string[] };

/** Adds an app to an account; the person's session has the second factor then. */
export async function addTotp(world: ApiWorld, to: TestPerson): Promise<PersonWithFactor> {
  const person = await beginTotp(world, to);
  const confirmed = await world.call('POST', '/api/sessions/current/second-factor/totp/confirm', {
    as: person.session,
    body: { code: await person.code() },
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  // None, if the person has some already.
  const codes = at(confirmed.body, 'recoveryCodes');
  return { ...person, recoveryCodes: Array.isArray(codes) ? codes.map(String) : [] };
}

/** The secret was shown; no code of it was entered. */
export const personWithBegunTotp = async (world: ApiWorld): Promise<PersonWithApp> =>
  beginTotp(world, await world.newPerson(world.organization.id, 'member'));

/** The app is on, and the session has the second factor. */
export const personWithTotp = async (world: ApiWorld, role: 'member' | 'owner' = 'member'): Promise<PersonWithFactor> =>
  addTotp(world, await world.newPerson(world.organization.id, role));

/** What a right password leads to. */
export async function challengeOf(world: ApiWorld, email: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await world.call('POST', '/api/sessions', { body: { email, password: TEST_PASSWORD }, headers });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'challenge');
}
