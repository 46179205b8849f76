import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authHeaderProblem } from '#domain/webhooks/endpoint-limits.ts';

test('names reserved by the interface are refused in any case of letters', () => {
  const names =
    'Host content-type User-Agent webhook-id WEBHOOK-anything X-Forwarded-For x-forwarded-host X-Service-Event x-service-foo Transfer-Encoding Content-Length Connection';
  for (const name of names.split(' ')) assert.ok(authHeaderProblem({ name, value: 'x' }), name);
});

test('names that are no HTTP token are refused', () => {
  for (const name of ['', 'a b', 'a:b', 'ä', 'a\r\nb', 'a"b', '(a)'])
    assert.ok(authHeaderProblem({ name, value: 'x' }), name);
});

test('values that could split a request are refused', () => {
  for (const value of ['', ' a', 'a ', 'a\r\nb: c', 'a\0b', 'ä', 'x'.repeat(5_000)])
    assert.ok(authHeaderProblem({ name: 'X-Token', value }), value);
});

test('ordinary authentication headers pass', () => {
  for (const name of ['Authorization', 'X-Api-Key', 'x-webhook-token', 'X_Custom.Header'])
    assert.equal(authHeaderProblem({ name, value: 'Bearer abc=' }), undefined);
});
