import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import {
  KEY_SET_MAX_KEYS,
  SECRET_OVERLAP_MAX_SECONDS,
  SIGNING_KEY_OVERLAP_SECONDS,
} from '#domain/webhooks/delivery-limits.ts';

const SigningKey = closed(
  {
    id: Type.String({ description: 'Thumbprint of the public key (RFC 7638); `kid` in the key set.' }),
    publicKey: Type.String({ description: '`whpk_` and base64 of the 32 bytes (Standard Webhooks, Ed25519).' }),
    createdAt: dateTime(),
    expiresAt: nullable(
      dateTime('Until then deliveries are signed with it and with its successor; null: it is the current key.'),
    ),
  },
  { title: 'WebhookSigningKey' },
);

export const SigningKeys = closed(
  {
    keys: Type.Array(SigningKey, {
      description: 'Keys in use, newest first. Empty until an endpoint sets `publicKeySignature`.',
    }),
    keySetUrl: Type.String({
      description: 'Address of the public keys as a JSON Web Key Set. It needs no credential.',
    }),
  },
  { title: 'WebhookSigningKeys' },
);

export const RotateSigningKey = closed(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SECRET_OVERLAP_MAX_SECONDS,
        description: `Time during which deliveries are signed with both keys. Default ${SIGNING_KEY_OVERLAP_SECONDS}. 0: the former key is no longer used.`,
      }),
    ),
  },
  { title: 'SigningKeyRotation' },
);

export const KeySetQuery = closed({
  organization: Type.Optional(
    Type.String({
      pattern: idPattern('organization'),
      description: `Only keys of this organization. Default: the newest ${KEY_SET_MAX_KEYS} keys of all organizations of this installation.`,
    }),
  ),
});

export const KeySet = closed(
  {
    keys: Type.Array(
      closed(
        {
          kty: Type.Literal('OKP'),
          crv: Type.Literal('Ed25519'),
          x: Type.String({ description: 'base64url of the 32 bytes of the public key.' }),
          kid: Type.String(),
          use: Type.Literal('sig'),
          alg: Type.Literal('EdDSA'),
        },
        { title: 'WebhookPublicKey', description: 'RFC 8037.' },
      ),
    ),
  },
  { title: 'WebhookKeySet' },
);
