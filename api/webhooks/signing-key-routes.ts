/** Key pairs of `v1a` signatures. */
import { type Route, route } from '#api/http/route.ts';
import { rotateSigningKey } from '#core/webhooks/signing/signing-keys.ts';
import { publicJwk } from '#core/webhooks/signing/webhook-key-pair.ts';
import { type PublicSigningKey, publishedSigningKeys, signingKeysInForce } from '#db/queries/webhooks/signing-keys.ts';
import {
  KEY_SET_CACHE_SECONDS,
  KEY_SET_MAX_KEYS,
  SIGNING_KEY_OVERLAP_SECONDS,
} from '#domain/webhooks/delivery-limits.ts';
import { presentSigningKeys } from './present.ts';
import { KeySet, KeySetQuery, RotateSigningKey, SigningKeys } from './signing-key-schema.ts';

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
