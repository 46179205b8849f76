/**
 * An authenticator of WebAuthn in software: keys by ES256, attestation `none`. It is written here by the standard, so that
 * it and the library of the service do not share an error. A browser's part, the client data, is made beside it.
 */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { relyingPartyOf } from '#domain/access/passkeys.ts';
import { type Answer, type ApiWorld, at, TEST_PASSWORD, type TestPerson, textAt } from './api-world.ts';

/** WebAuthn §6.1: user present, user verified, attested data included. */
const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 };

const sha256 = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** RFC 8949 §3, as far as attestations need it. */
type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>;

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 0x100) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, each]) => [cbor(key), cbor(each)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

/** COSE_Key of a P-256 key (RFC 9053 §7.1.1). */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const entries: [number, Cbor][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ];
  return cbor(new Map(entries));
}

interface Claims {
  /** Of the page. */
  readonly origin?: string;
  readonly rpId?: string;
  /** The person was recognized, not only there. */
  readonly verified?: boolean;
  readonly challenge?: string;
}

export interface Authenticator {
  /** Uses so far; set it back to be a copy. */
  counter: number;
  readonly id: string;
  register(options: unknown, claims?: Claims): Record<string, unknown>;
  assert(options: unknown, claims?: Claims): Record<string, unknown>;
}

/** @param publicUrl of the service: pages there are what it believes to see */
export function authenticator(publicUrl: string): Authenticator {
  const site = relyingPartyOf(publicUrl);
  assert.ok(site !== null);
  const credentialId = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let userHandle: string | undefined;

  const clientData = (type: string, options: unknown, claims: Claims): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: claims.challenge ?? textAt(options, 'challenge'),
        origin: claims.origin ?? site.origin,
        crossOrigin: false,
      }),
    );

  const authenticatorData = (flags: number, counter: number, rpId: string, more = Buffer.alloc(0)): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, more]);
  };
  const flagsOf = ({ verified = true }: Claims): number => FLAGS.present | (verified ? FLAGS.verified : 0);

  return {
    counter: 0,
    id: credentialId.toString('base64url'),
    register(options, claims = {}) {
      userHandle = textAt(options, 'user', 'id');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)]);
      const rpId = claims.rpId ?? textAt(options, 'rp', 'id');
      const authData = authenticatorData(flagsOf(claims) | FLAGS.attested, this.counter, rpId, attested);
      const attestation: [string, Cbor][] = [
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ];
      return {
        id: this.id,
        clientData: clientData('webauthn.create', options, claims).toString('base64url'),
        attestationObject: cbor(new Map(attestation)).toString('base64url'),
        transports: ['internal'],
      };
    },
    assert(options, claims = {}) {
      this.counter += 1;
      const data = clientData('webauthn.get', options, claims);
      const authData = authenticatorData(flagsOf(claims), this.counter, claims.rpId ?? textAt(options, 'rpId'));
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return {
        id: this.id,
        clientData: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle === undefined ? {} : { userHandle }),
      };
    },
  };
}

const OWN = '/api/sessions/current/passkeys';

/** What the service asks the browser of a person to make. */
export async function newPasskeyOptions(world: ApiWorld, { session }: TestPerson): Promise<unknown> {
  const begun = await world.call('POST', `${OWN}/begin`, { as: session, body: { password: TEST_PASSWORD } });
  assert.equal(begun.status, 201, begun.text);
  return begun.body;
}

export interface PersonWithPasskey extends TestPerson {
  readonly device: Authenticator;
  readonly passkeyId: string;
  readonly recoveryCodes: readonly string[];
}

/** Adds a passkey to an account; the person's session has the second factor then. */
export async function addPasskey(world: ApiWorld, to: TestPerson, name = 'Laptop'): Promise<PersonWithPasskey> {
  const device = authenticator(world.api.url);
  const passkey = device.register(await newPasskeyOptions(world, to));
  const added = await world.call('POST', OWN, { as: to.session, body: { name, passkey } });
  assert.equal(added.status, 201, added.text);
  const codes = at(added.body, 'recoveryCodes');
  return {
    ...to,
    device,
    passkeyId: textAt(added.body, 'passkey', 'id'),
    recoveryCodes: Array.isArray(codes) ? codes.map(String) : [],
  };
}

export const personWithPasskey = async (
  world: ApiWorld,
  role: 'member' | 'owner' = 'member',
): Promise<PersonWithPasskey> => addPasskey(world, await world.newPerson(world.organization.id, role));

/** What the service asks a browser for: at a sign-in without a password, in its second step, or to confirm a change. */
export async function passkeyOptions(
  world: ApiWorld,
  of: 'sign-in' | { readonly challenge: string } | { readonly session: Readonly<Record<string, string>> },
): Promise<unknown> {
  const ask = async (): Promise<Answer> => {
    if (of === 'sign-in') return world.call('POST', '/api/sessions/passkey/begin', {});
    if ('challenge' in of) return world.call('POST', '/api/sessions/second-factor/passkey', { body: of });
    return world.call('POST', `${OWN}/confirmation`, { as: of.session });
  };
  const begun = await ask();
  assert.equal(begun.status, 201, begun.text);
  return begun.body;
}
