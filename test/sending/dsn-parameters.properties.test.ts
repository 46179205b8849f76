import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NOTIFY_VALUES, type NoticeAction, wantsNotice } from '#domain/webhooks/delivery-notices.ts';
import { dsnFault, recipientNotices } from '#mail/submission/dsn-parameters.ts';
import { readReport } from '#mime/read-report.ts';
import { writeNotice } from '#sending/local-delivery/notify-sender.ts';

/** RFC 3461 §4, written a second time. */
const xtext = (text: string): string =>
  [...text]
    .map((character) =>
      /[!-~]/.test(character) && !'+='.includes(character)
        ? character
        : `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');

const printable = fc.string({
  unit: fc.constantFrom(...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))),
  minLength: 1,
  maxLength: 33,
});
const values = fc.subarray([...NOTIFY_VALUES], { minLength: 1 });

test('any line is checked without throwing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('MAIL FROM:<a@b.example> ', 'RCPT TO:<a@b.example> ', ''),
      fc.string(),
      (verb, rest) => {
        const fault = dsnFault(verb + rest);
        assert.ok(fault === undefined || /^[A-Z]+ [ -~]+$/.test(fault));
      },
    ),
  );
});

test('every printable value is taken as xtext; with one character that xtext does not have, none is', () => {
  fc.assert(
    fc.property(printable, fc.constantFrom('=', '+', '+2b', '+G0', '\u00e9'), fc.nat(), (value, bad, at) => {
      const written = xtext(value);
      assert.equal(dsnFault(`MAIL FROM:<a@b.example> ENVID=${written}`), undefined);
      assert.equal(dsnFault(`RCPT TO:<a@b.example> ORCPT=rfc822;${written}`), undefined);
      const whole = written.match(/\+..|[^+]/g) ?? [];
      const spoilt = whole.toSpliced(at % (whole.length + 1), 0, bad === '+' ? '+ZZ' : bad).join('');
      assert.match(dsnFault(`MAIL FROM:<a@b.example> ENVID=${spoilt}`) ?? '', /^ENVID /);
      assert.match(dsnFault(`RCPT TO:<a@b.example> ORCPT=rfc822;${spoilt}`) ?? '', /^ORCPT /);
    }),
  );
});

test('NOTIFY is any list without NEVER, or NEVER alone; what is asked is what is notified', () => {
  const asked = {
    failed: 'FAILURE',
    delayed: 'DELAY',
    delivered: 'SUCCESS',
    relayed: 'SUCCESS',
    expanded: 'SUCCESS',
  } as const;
  fc.assert(
    fc.property(values, (list) => {
      const line = `RCPT TO:<a@b.example> NOTIFY=${list.join(',')}`;
      if (list.includes('NEVER') && list.length > 1) return assert.match(dsnFault(line) ?? '', /^NOTIFY /);
      assert.equal(dsnFault(line), undefined);
      const notices = recipientNotices({ args: { NOTIFY: list.join(',').toLowerCase() } });
      assert.deepEqual(notices.notify?.toSorted(), list.toSorted());
      for (const [action, value] of Object.entries(asked))
        assert.equal(wantsNotice(notices, action as NoticeAction), list.includes(value));
    }),
  );
});

test('a notice is parsed as it was written, whatever the other host and the submitter sent', () => {
  const notified = fc.record({
    address: fc.emailAddress(),
    code: fc.constantFrom('5.1.1', '4.4.7', '2.0.0'),
    reply: fc.string({ unit: 'binary' }),
    originalRecipient: fc.option(printable.map((address) => `rfc822;${address}`)),
  });
  const actions = fc.constantFrom<NoticeAction>('failed', 'delayed', 'delivered', 'relayed', 'expanded');
  fc.assert(
    fc.property(
      fc.array(notified, { minLength: 1, maxLength: 5 }),
      actions,
      fc.option(printable),
      fc.string(),
      (list, action, envelopeId, subject) => {
        const bytes = writeNotice({
          action,
          hostname: 'mail.test',
          sender: 'agent@agents.test',
          subject,
          messageIdHeader: '<1@agents.test>',
          envelopeId,
          notified: list,
          returned: { part: 'HDRS', bytes: Buffer.from('Subject: x\r\n') },
          submittedAt: new Date(0),
          now: new Date(0),
        });
        const report = readReport(bytes);
        assert.ok(report?.kind === 'status');
        assert.deepEqual(
          report.recipients.map((each) => [each.action, each.code, each.addresses.at(-1)]),
          list.map(({ address, code }) => [action, code, address.toLowerCase()]),
        );
      },
    ),
  );
});
