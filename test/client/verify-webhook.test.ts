import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookKey, WebhookVerificationError } from '#client/index.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
const BODY = JSON.stringify({ id: 'evt_1', type: 'email_sent', data: { subject: 'Grüße' } });

/** Signed by the library that the service signs with. */
function headersOf(body = BODY, { secret = SECRET, at = new Date() } = {}): Record<string, string> {
  return {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('dlv_1', at, body),
  };
}

const refused = async (promise: Promise<unknown>, code: string): Promise<void> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof WebhookVerificationError, String(error));
  assert.equal(error.code, code);
};

test('the event of a signed request, whatever form headers and body have', async () => {
  const headers = headersOf();
  const bytes = new TextEncoder().encode(BODY);
  for (const [given, body] of [
    [headers, BODY],
    [new Headers(headers), bytes],
    [Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]])), bytes.buffer],
  ] as const) {
    const event = await verifyWebhook(given, body, SECRET);
    assert.equal(event.type, 'email_sent');
    assert.equal(event.type === 'email_sent' ? event.data.subject : '', 'Grüße');
  }
});

test('during a rotation either secret and either signature is enough', async () => {
  const both = headersOf();
  both['webhook-signature'] =
    `v1a,AAAA ${headersOf(BODY, { secret: OTHER })['webhook-signature']} ${both['webhook-signature']}`;
  assert.equal((await verifyWebhook(both, BODY, SECRET)).id, 'evt_1');
  assert.equal((await verifyWebhook(headersOf(), BODY, [OTHER, SECRET])).id, 'evt_1');
});

test('what the service did not sign is refused, and the error says why', async () => {
  await refused(verifyWebhook(headersOf(), `${BODY} `, SECRET), 'wrong_signature');
  await refused(verifyWebhook(headersOf(), BODY, OTHER), 'wrong_signature');
  await refused(verifyWebhook({ ...headersOf(), 'webhook-id': 'dlv_2' }, BODY, SECRET), 'wrong_signature');
  await refused(verifyWebhook({ ...headersOf(), 'webhook-signature': 'v1,%%% v1' }, BODY, SECRET), 'wrong_signature');
  const { 'webhook-signature': _, ...unsigned } = headersOf();
  await refused(verifyWebhook(unsigned, BODY, SECRET), 'missing_header');
  await refused(verifyWebhook(headersOf(), BODY, 'whsec_%'), 'invalid_secret');
  await refused(verifyWebhook(headersOf(), BODY, ''), 'invalid_secret');
  await refused(verifyWebhook(headersOf('no json'), 'no json', SECRET), 'invalid_body');
});

test('an old request is refused, so that a recorded one cannot be sent again later', async () => {
  const at = new Date('2026-11-22T10:00:00Z');
  const headers = headersOf(BODY, { at });
  const after = (seconds: number): Date => new Date(at.getTime() + seconds * 1_000);
  assert.equal((await verifyWebhook(headers, BODY, SECRET, { now: after(299) })).id, 'evt_1');
  await refused(verifyWebhook(headers, BODY, SECRET, { now: after(302) }), 'wrong_time');
  await refused(verifyWebhook(headers, BODY, SECRET, { now: after(-302) }), 'wrong_time');
  await refused(verifyWebhook({ ...headers, 'webhook-timestamp': 'NaN' }, BODY, SECRET), 'wrong_time');
});

const PAIR = generateKeyPairSync('ed25519');
const JWK = PAIR.publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string };
const PUBLIC_BYTES = Buffer.from(JWK.x, 'base64url');
const PUBLIC_KEY = `whpk_${PUBLIC_BYTES.toString('base64')}`;
const OTHER_PUBLIC_KEY = `whpk_${Buffer.alloc(32, 1).toString('base64')}`;

/** With a `v1` and a `v1a` signature. */
function signedTwice(privateKey: KeyObject = PAIR.privateKey): Record<string, string> {
  const headers = headersOf();
  const signed = Buffer.from(`dlv_1.${headers['webhook-timestamp']}.${BODY}`);
  const signature = `v1a,${sign(null, signed, privateKey).toString('base64')}`;
  return { ...headers, 'webhook-signature': `${headers['webhook-signature']} ${signature}` };
}

test('a public key, as text or of a key set, verifies v1a signatures', async () => {
  for (const key of [PUBLIC_KEY, JWK, [OTHER_PUBLIC_KEY, PUBLIC_KEY], [{ ...JWK, kid: 'any', use: 'sig' }], SECRET])
    assert.equal((await verifyWebhook(signedTwice(), BODY, key)).id, 'evt_1');
  const other = signedTwice(generateKeyPairSync('ed25519').privateKey);
  await refused(verifyWebhook(other, BODY, PUBLIC_KEY), 'wrong_signature');
  await refused(verifyWebhook(signedTwice(), `${BODY} `, PUBLIC_KEY), 'wrong_signature');
  await refused(verifyWebhook(signedTwice(), BODY, OTHER_PUBLIC_KEY), 'wrong_signature');
  await refused(verifyWebhook(headersOf(), BODY, PUBLIC_KEY), 'wrong_signature');
});

test('a public key is not accepted as a secret', async () => {
  const headers = headersOf();
  for (const secret of [PUBLIC_BYTES, Buffer.from(PUBLIC_KEY)]) {
    const signature = createHmac('sha256', secret)
      .update(`dlv_1.${headers['webhook-timestamp']}.${BODY}`)
      .digest('base64');
    for (const version of ['v1', 'v1a'])
      await refused(
        verifyWebhook({ ...headers, 'webhook-signature': `${version},${signature}` }, BODY, [PUBLIC_KEY, JWK]),
        'wrong_signature',
      );
  }
  for (const wrong of ['whpk_', 'whpk_AAAA', 'whsk_AAAA', { kty: 'RSA' }, { ...JWK, crv: 'X25519' }])
    await refused(verifyWebhook(signedTwice(), BODY, wrong), 'invalid_secret');
});

/** The Python package is tested with the same. */
interface Vectors {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly cases: readonly {
    readonly name: string;
    readonly keys: WebhookKey | readonly WebhookKey[];
    readonly signature: string;
    readonly body?: string;
    /** `accepted`, or the code of the error. */
    readonly outcome: string;
  }[];
}

test('both versions of signatures give the outcomes of the vectors', async (t) => {
  const text = readFileSync(new URL('webhook-vectors.json', import.meta.url), 'utf8');
  const { id, timestamp, cases, ...vectors } = JSON.parse(text) as Vectors;
  assert.ok(cases.length > 20);
  for (const { name, keys, signature, body = vectors.body, outcome } of cases)
    await t.test(name, async () => {
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
      const verified = verifyWebhook(headers, body, keys, { now: new Date(timestamp * 1_000) });
      if (outcome === 'accepted') assert.equal((await verified).id, 'evt_1');
      else await refused(verified, outcome);
    });
});
