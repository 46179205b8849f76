/** The SPF record allows what a relay needs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailRecords } from '#core/mailboxes/domain-records.ts';
import { spfOfRelay } from '#domain/mail/spf-of-relays.ts';

for (const [host, mechanism] of [
  ['email-smtp.eu-west-1.amazonaws.com', 'include:amazonses.com'],
  ['SMTP.SendGrid.net.', 'include:sendgrid.net'],
  ['smtp-relay.gmail.com', 'include:_spf.google.com'],
  // The end of a name is not that of a relay.
  ['notsendgrid.net', undefined],
  ['sendgrid.net.evil.example', undefined],
  ['192.0.2.7', undefined],
  ['smarthost.example.org', undefined],
] as const)
  test(`${host} ${mechanism === undefined ? 'is not known' : `needs ${mechanism}`}`, () => {
    assert.equal(spfOfRelay(host), mechanism);
  });

const facts = {
  name: 'agents.example.org',
  dkimSelector: 's',
  dkimPublicKey: 'k',
  mailHost: 'mail.example.org',
  ...{ imapsPort: 993, pop3sPort: 995, submissionsPort: 465, submissionStarttlsPort: 587 },
};

test('the record of a domain has the mechanism of the relay beside that of the host', () => {
  const spf = (relayHost?: string) =>
    mailRecords({ ...facts, relayHost }).find(({ purpose }) => purpose === 'spf')?.value;
  assert.equal(spf(), 'v=spf1 a:mail.example.org ~all');
  assert.equal(spf('smtp.postmarkapp.com'), 'v=spf1 a:mail.example.org include:spf.mtasv.net ~all');
});
