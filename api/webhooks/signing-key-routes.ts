/** Key pairs of `v1a` signatures. */
import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import { rotateSigningKey } from '#core/webhooks/signing/signing-keys.ts';
import { publicJwk } from '#core/webhooks/signing/webhook-signature.ts';
import { type PublicSigningKey, publishedSigningKeys, signingKeysInForce } from '#db/queries/webhooks/signing-keys.ts';
import { idPattern } from '#domain/ids.ts';
import {
  KEY_SET_CACHE_SECONDS,
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

const RotateSigningKey = closed(
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

const KeySetQuery = closed({
  organization: Type.Optional(
    Type.String({
      pattern: idPattern('organization'),
      description: `Only keys of this organization. Default: the newest ${KEY_SET_MAX_KEYS} keys of all organizations of this installation.`,
    }),
  ),
});

const KeySet = closed(
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

const tag = 'Webhooks';
const KEY_SET_PATH = '/.well-known/jwks.json';

/** RFC 8037, appendix A. */
const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
const id = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';
const example = {
  keys: [
    {
      id,
      publicKey: `whpk_${Buffer.from(x, 'base64url').toString('base64')}`,
      createdAt: '2026-11-21T09:15:00.000Z',
      expiresAt: null,
    },
  ],
  keySetUrl: `https://mail.example.com${KEY_SET_PATH}?organization=org_01k8e8f2c0e4x9w2v7a3r5t6y8`,
};

const answer = (keys: readonly PublicSigningKey[], publicUrl: string, organizationId: string) =>
  ({
    status: 200,
    body: presentSigningKeys(keys, `${publicUrl}${KEY_SET_PATH}?organization=${organizationId}`),
  }) as const;

const presentSigningKeys = (keys: readonly PublicSigningKey[], keySetUrl: string): Static<typeof SigningKeys> => ({
  keys: keys.map(({ id, publicKey, createdAt, expiresAt }) => ({
    id,
    publicKey,
    createdAt: createdAt.toISOString(),
    expiresAt: timeOf(expiresAt),
  })),
  keySetUrl,
});

export const signingKeyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/webhooks/signing-keys',
    operationId: 'listWebhookSigningKeys',
    tag,
    summary: 'Public keys of the `v1a` signatures',
    description: 'Deliveries to endpoints with `publicKeySignature` are signed with these key pairs.',
    auth: { scope: 'webhook:read' },
    responses: { 200: { description: 'The keys that sign.', schema: SigningKeys, example } },
    handler: async ({ services, organization, publicUrl }) =>
      answer(await signingKeysInForce(services.db, organization.id), publicUrl, organization.id),
  }),
  route({
    method: 'POST',
    path: '/api/webhooks/signing-keys/rotate',
    operationId: 'rotateWebhookSigningKey',
    tag,
    summary: 'Replace the key pair of the `v1a` signatures',
    description:
      'Applies to all endpoints of the organization. During the overlap, deliveries are signed with both keys, and the key set contains both.',
    auth: { scope: 'webhook:manage' },
    body: RotateSigningKey,
    bodyExample: { overlapSeconds: 3_600 },
    responses: { 200: { description: 'The keys that sign now.', schema: SigningKeys, example } },
    async handler({ services, organization, caller, body, publicUrl }) {
      const overlapSeconds = body.overlapSeconds ?? SIGNING_KEY_OVERLAP_SECONDS;
      return answer(
        await rotateSigningKey(services, organization.id, caller, overlapSeconds),
        publicUrl,
        organization.id,
      );
    },
  }),
  route({
    method: 'GET',
    path: KEY_SET_PATH,
    operationId: 'getWebhookKeySet',
    withoutCall: { cli: 'An address for receivers of webhooks; `webhooks signing-keys` prints it.' },
    tag,
    summary: 'Public keys of the `v1a` signatures as a JSON Web Key Set',
    description:
      'A receiver may cache the set for the time in `Cache-Control`. It must trust only the keys of its own organization: name the organization in the query, or compare `organization.id` of each event.',
    auth: 'public',
    query: KeySetQuery,
    responses: {
      200: {
        description: 'The keys.',
        schema: KeySet,
        example: { keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid: id, use: 'sig', alg: 'EdDSA' }] },
        headers: { 'Cache-Control': 'How long it may be cached.' },
      },
    },
    async handler({ services, query }) {
      const keys = await publishedSigningKeys(services.db, query.organization ?? null, KEY_SET_MAX_KEYS);
      return {
        status: 200,
        body: { keys: keys.map((key) => publicJwk(key.id, key.publicKey)) },
        headers: { 'Cache-Control': `public, max-age=${KEY_SET_CACHE_SECONDS}` },
      };
    },
  }),
];
