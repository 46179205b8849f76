import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginThrottle } from '#mail/login/login-throttle.ts';

const clock = () => {
  let now = 1_000_000;
  return { now: () => now, pass: (ms: number) => (now += ms) };
};

async function attempt(throttle: ReturnType<typeof loginThrottle>, source: string, mailbox: string, passes = false) {
  const admission = await throttle.admit(source, mailbox);
  if (admission.kind === 'admitted') admission.settle(passes ? 'passed' : 'failed');
  return admission.kind;
}

test('ten failures of a source empty its bucket, one more is allowed each minute', async () => {
  const { now, pass } = clock();
  const throttle = loginThrottle(now);
  for (let count = 0; count < 10; count++)
    assert.equal(await attempt(throttle, '192.0.2.1', `m${count}@a.test`), 'admitted');
  const admission = await throttle.admit('192.0.2.1', 'other@a.test');
  assert.deepEqual(admission, { kind: 'throttled', retryAfterSeconds: 60 });
  assert.equal(await attempt(throttle, '192.0.2.2', 'm1@a.test'), 'admitted', 'another source is not locked out');
  pass(60_000);
  assert.equal(await attempt(throttle, '192.0.2.1', 'other@a.test'), 'admitted');
  assert.equal(await attempt(throttle, '192.0.2.1', 'other@a.test'), 'throttled');
});

test('an IPv6 source is its /64', async () => {
  const throttle = loginThrottle(clock().now);
  for (let count = 0; count < 10; count++) await attempt(throttle, `2001:db8:0:1::${count + 1}`, 'a@a.test');
  assert.equal(await attempt(throttle, '2001:db8:0:1:ffff::1', 'a@a.test'), 'throttled');
  assert.equal(await attempt(throttle, '2001:db8:0:2::1', 'a@a.test'), 'admitted');
});

test('one agent with an invalid token does not lock out the others on its host', async () => {
  const throttle = loginThrottle(clock().now);
  assert.equal(await attempt(throttle, '192.0.2.1', 'well@a.test', true), 'admitted');
  for (let count = 0; count < 12; count++) await attempt(throttle, '192.0.2.1', 'dead@a.test');
  assert.equal(await attempt(throttle, '192.0.2.1', 'dead@a.test'), 'throttled');
  assert.equal(await attempt(throttle, '192.0.2.1', 'well@a.test', true), 'admitted');
  for (let count = 0; count < 10; count++) await attempt(throttle, '192.0.2.1', 'well@a.test');
  assert.equal(await attempt(throttle, '192.0.2.1', 'well@a.test', true), 'throttled');
});

test('concurrent guesses are not free, and concurrent correct logins all succeed', async () => {
  const throttle = loginThrottle(clock().now);
  const flood = async (mailbox: string, passes: boolean) => {
    const kinds = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const admission = await throttle.admit('192.0.2.1', mailbox);
        if (admission.kind !== 'admitted') return admission.kind;
        await new Promise((resolve) => setImmediate(resolve));
        admission.settle(passes ? 'passed' : 'failed');
        return admission.kind;
      }),
    );
    return kinds.filter((kind) => kind === 'admitted').length;
  };
  assert.equal(await flood('right@a.test', true), 50);
  assert.equal(await flood('wrong@a.test', false), 10);
});
