/** Passkeys in JSON: what browsers are asked for and answer (WebAuthn §5.1 and §5.2), and how they are listed. */
import Type, { type Static } from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import type { PasskeyView } from '#core/accounts/second-factor/passkeys.ts';
import {
  PASSKEY_FIELD_MAX_CHARACTERS,
  PASSKEY_ID_MAX_BYTES,
  PASSKEY_NAME_MAX_CHARACTERS,
  PASSKEY_TRANSPORTS,
} from '#domain/access/passkeys.ts';
import { idPattern } from '#domain/ids.ts';

const BASE64URL = '^[A-Za-z0-9_-]+$';
/** Characters of base64url for a number of bytes. */
const charactersOf = (bytes: number): number => Math.ceil((bytes * 4) / 3);

const base64url = (maxLength = PASSKEY_FIELD_MAX_CHARACTERS) =>
  Type.String({ minLength: 1, maxLength, pattern: BASE64URL });
const credentialId = () => base64url(charactersOf(PASSKEY_ID_MAX_BYTES));

export const PasskeyAssertion = closed(
  {
    id: credentialId(),
    clientData: base64url(),
    authenticatorData: base64url(),
    signature: base64url(),
    userHandle: Type.Optional(base64url(charactersOf(64))),
  },
  {
    title: 'PasskeyAssertion',
    description: 'What `navigator.credentials.get` answered; bytes in base64url without padding.',
  },
);

const PasskeyRegistration = closed(
  {
    id: credentialId(),
    clientData: base64url(),
    attestationObject: base64url(),
    transports: Type.Array(Type.Enum([...PASSKEY_TRANSPORTS]), { maxItems: PASSKEY_TRANSPORTS.length }),
  },
  {
    title: 'PasskeyRegistration',
    description: 'What `navigator.credentials.create` answered; bytes in base64url without padding.',
  },
);

const Descriptor = closed(
  { type: Type.Literal('public-key'), id: Type.String(), transports: Type.Array(Type.Enum([...PASSKEY_TRANSPORTS])) },
  { title: 'PasskeyDescriptor' },
);

export const PasskeyRequest = closed(
  {
    challenge: Type.String(),
    rpId: Type.String(),
    timeout: Type.Integer({ description: 'Milliseconds.' }),
    userVerification: Type.Literal('required'),
    allowCredentials: Type.Array(Descriptor, { description: 'Empty: any passkey of this site.' }),
  },
  {
    title: 'PasskeyRequest',
    description: 'For `navigator.credentials.get`, by `PublicKeyCredential.parseRequestOptionsFromJSON`.',
  },
);

export const PasskeyCreation = closed(
  {
    challenge: Type.String(),
    rp: closed({ id: Type.String(), name: Type.String() }, { title: 'PasskeySite' }),
    user: closed({ id: Type.String(), name: Type.String(), displayName: Type.String() }, { title: 'PasskeyAccount' }),
    pubKeyCredParams: Type.Array(
      closed({ type: Type.Literal('public-key'), alg: Type.Integer() }, { title: 'PasskeyAlgorithm' }),
    ),
    timeout: Type.Integer({ description: 'Milliseconds.' }),
    attestation: Type.Literal('none'),
    authenticatorSelection: closed(
      {
        residentKey: Type.Literal('required'),
        requireResidentKey: Type.Literal(true),
        userVerification: Type.Literal('required'),
      },
      { title: 'PasskeyAuthenticator' },
    ),
    excludeCredentials: Type.Array(Descriptor, { description: 'Passkeys that the account has.' }),
  },
  {
    title: 'PasskeyCreation',
    description: 'For `navigator.credentials.create`, by `PublicKeyCredential.parseCreationOptionsFromJSON`.',
  },
);

export const Passkey = closed(
  {
    id: Type.String({ pattern: idPattern('passkey') }),
    name: Type.String(),
    createdAt: dateTime(),
    lastUsedAt: nullable(dateTime()),
  },
  { title: 'Passkey' },
);

export const PasskeyList = closed(
  {
    data: Type.Array(Passkey),
    origin: nullable(
      Type.String({
        description:
          'The only address of the dashboard where passkeys work; null: this service has none with name and TLS.',
      }),
    ),
  },
  { title: 'PasskeyList' },
);

export const NewPasskey = closed(
  {
    passkey: Passkey,
    recoveryCodes: nullable(
      Type.Array(Type.String(), { description: 'Shown in this answer only; null: the person has some already.' }),
    ),
  },
  { title: 'NewPasskey' },
);

export const AddPasskey = closed(
  {
    name: Type.String({
      minLength: 1,
      maxLength: PASSKEY_NAME_MAX_CHARACTERS,
      description: 'By which the person recognizes it.',
    }),
    passkey: PasskeyRegistration,
  },
  { title: 'PasskeyAddition' },
);

export const PasskeySignIn = closed(
  {
    passkey: PasskeyAssertion,
    cookie: Type.Optional(Type.Boolean({ description: 'For pages of this service, as at sign-in.' })),
  },
  { title: 'PasskeySignIn' },
);

export const PasskeyParams = closed({ id: Type.String({ pattern: idPattern('passkey') }) });

export const presentPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyView): Static<typeof Passkey> => ({
  id,
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const ID = 'q83vEjRWeJq83vEjRWeJqw';
const CHALLENGE = 'vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M';
const CLIENT_DATA = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';

export const passkeyExample = {
  id: 'pky_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Laptop',
  createdAt: '2026-11-21T09:15:00.000Z',
  lastUsedAt: null,
};
const descriptorExample = { type: 'public-key', id: ID, transports: ['internal'] };
export const requestExample = {
  challenge: CHALLENGE,
  rpId: 'mail.example.com',
  timeout: 300_000,
  userVerification: 'required',
  allowCredentials: [descriptorExample],
};
export const creationExample = {
  challenge: CHALLENGE,
  rp: { id: 'mail.example.com', name: 'Agent Mailbox' },
  user: { id: 'dXNyXzAxazhlOGYyYzBlNHg5dzJ2N2EzcjV0Nnk4', name: 'ada@example.com', displayName: 'Ada Byron' },
  pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  timeout: 300_000,
  attestation: 'none',
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  excludeCredentials: [],
};
export const assertionExample = {
  id: ID,
  clientData: CLIENT_DATA,
  authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
  signature: 'MEUCIQC7',
};
export const registrationExample = {
  id: ID,
  clientData: CLIENT_DATA,
  attestationObject: 'o2NmbXRkbm9uZQ',
  transports: ['internal'],
};
