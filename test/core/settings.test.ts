import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.problems;
  }
};

test('two listeners on one port are both named', () => {
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ API_PORT: '2525' }), [
    'API_PORT and SMTP_PORT are all 2525, but each needs its own port',
  ]);
  assert.match(
    problemsOf({ TEMPORAL_PORT: '7080' })[0] ?? '',
    /^API_PORT and TEMPORAL_PORT \+ 1000 \(its UI\) are all 8080/,
  );
});

test('ports that are chosen by the system, switched off or unused do not conflict', () => {
  assert.deepEqual(problemsOf({ API_PORT: '0', SMTP_PORT: '0', METRICS_PORT: '0' }), []);
  assert.deepEqual(problemsOf({ API_PORT: '54320', DATABASE_URL: 'postgres://x@127.0.0.1/x' }), []);
  assert.deepEqual(problemsOf({ MAIL_PUBLIC_IMAP_PORT: '993', MAIL_PUBLIC_POP3_PORT: '993' }), []);
});

test('in production, direct delivery needs a host name', () => {
  const mx = { OUTBOUND_TRANSPORT: 'mx', MODE: 'production' };
  for (const name of ['localhost', 'mail', 'mail.localhost', 'mail.local'])
    assert.match(problemsOf({ ...mx, MAIL_HOSTNAME: name })[0] ?? '', /reverse DNS/, name);
  assert.deepEqual(problemsOf({ ...mx, MAIL_HOSTNAME: 'mail.example.com' }), []);
  assert.deepEqual(problemsOf({ ...mx, MODE: 'development' }), []);
});
