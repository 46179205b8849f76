import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from '#core/accounts/sign-in.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { isCredential } from '#domain/access/credential-format.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });

test('a sealed secret opens at its own place only', () => {
  const secrets = sealedSecrets([key('a')]);
  const sealed = secrets.seal('top secret', 'endpoints:secret:1');
  assert.ok(!sealed.includes('top secret'));
  assert.equal(secrets.open(sealed, 'endpoints:secret:1'), 'top secret');
  assert.throws(() => secrets.open(sealed, 'endpoints:secret:2'));
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  assert.throws(() => secrets.open(changed, 'endpoints:secret:1'));
});

test('after a key rotation the old key still opens, and without it the error says what to do', () => {
  const [old, current] = [key('old'), key('new')];
  const sealed = sealedSecrets([old]).seal('x', 'p');
  const rotated = sealedSecrets([current, old]);
  assert.equal(rotated.open(sealed, 'p'), 'x');
  assert.match(rotated.seal('x', 'p'), /^v1\.new\./);
  assert.throws(() => sealedSecrets([current]).open(sealed, 'p'), /SECRETS_KEYS/);
});

test('a credential with a typing error is recognized without a database query', () => {
  const token = newCredential('mailboxToken');
  assert.ok(isCredential('mailboxToken', token));
  assert.ok(!isCredential('apiKey', token));
  for (let i = 4; i < token.length; i++) {
    const typo = token.slice(0, i) + (token[i] === 'a' ? 'b' : 'a') + token.slice(i + 1);
    assert.ok(!isCredential('mailboxToken', typo), `position ${i}`);
  }
});

test('the stored hash of a credential depends on the pepper', () => {
  const token = newCredential('apiKey');
  const [a, b] = [randomBytes(32), randomBytes(32)];
  assert.deepEqual(hashCredential(token, a), hashCredential(token, a));
  assert.notDeepEqual(hashCredential(token, a), hashCredential(token, b));
});

test('a password verifies against its argon2id hash and no other', async () => {
  const hash = await hashPassword('correct horse battery');
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await verifyPassword('correct horse battery', hash), true);
  assert.equal(await verifyPassword('correct horse batterz', hash), false);
  assert.equal(await verifyPassword('x', 'not a hash'), false);
});

test('all wrong settings are reported together, with accepted values and without secrets', () => {
  try {
    readSettings({ API_PORT: '99999', MODE: 'prod', SECRETS_KEYS: 'hunter2' });
    assert.fail('must throw');
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    assert.equal(error.problems.length, 3);
    assert.match(error.message, /API_PORT is "99999", but takes a whole number from 0 to 65535/);
    assert.doesNotMatch(error.message, /hunter2/);
  }
});

test('production refuses what only suits development', () => {
  assert.throws(
    () => readSettings({ MODE: 'production', WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8' }),
    /WEBHOOK_ALLOW_DESTINATIONS is for development and tests only/,
  );
});

test('a retry ladder of another length than four is refused', () => {
  assert.throws(() => readSettings({ WEBHOOK_RETRY_DELAYS_MS: '1,2' }), /takes four whole numbers/);
  assert.deepEqual(readSettings({ WEBHOOK_RETRY_DELAYS_MS: '1,2,3,4' }).WEBHOOK_RETRY_DELAYS_MS, [1, 2, 3, 4]);
});
