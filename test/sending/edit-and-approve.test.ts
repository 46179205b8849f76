/** A person changes a held message and approves that: by REST and by SMTP, from the submission to the receiving host. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { type EditableMessage, editableMessage } from '#mime/editable-message.ts';
import { isOwnField } from '#sending/compose/compose-message.ts';
import { type Answer, at, type Credential, errorCode, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  type Answered,
  openSendingWorld,
  passwordOf,
  SENDING_ENTRY_POINTS,
  type SendingWorld,
} from './sending-world.ts';

let world: SendingWorld;
let organization: TestOrganization;
before(async () => {
  world = await openSendingWorld();
  organization = await world.api.newOrganization('unlimited');
});
after(() => world?.close());

let number = 0;
const stranger = (domain = `d${++number}.example`) => `p${++number}@${domain}`;
const mailbox = () => organization.mailbox;
const person = () => organization.member.session;

const approve = (
  { consentId }: Pick<Answered, 'consentId'>,
  edit: object | undefined,
  scope = 'message',
  as: Credential = person(),
): Promise<Answer> =>
  world.api.call('POST', `/api/consents/${consentId}/approve`, {
    as,
    body: { scope, ...(edit === undefined ? {} : { edit }) },
  });

const consentOf = async ({ consentId }: Answered) =>
  (await world.api.call('GET', `/api/consents/${consentId}`, { as: person() })).body;

const receivedBy = (address: string) => world.peer.received.filter(({ to }) => to.includes(address));

async function theMailTo(address: string): Promise<EditableMessage> {
  await waitUntil(`mail to ${address}`, async () => receivedBy(address).length > 0, 60_000);
  const [mail, ...more] = receivedBy(address);
  assert.equal(more.length, 0);
  return editableMessage(mail?.bytes ?? Buffer.alloc(0), isOwnField);
}

async function settings(change: object): Promise<void> {
  const answer = await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: change },
  });
  assert.equal(answer.status, 200, answer.text);
}

/** Held, with parts of the caller's choice. */
async function heldByRest(body: object): Promise<Answered> {
  const answer = await world.api.call('POST', '/api/mailbox/messages', { as: mailbox().token, body });
  assert.equal(answer.status, 202, answer.text);
  const id = textAt(answer.body, 'id');
  return { kind: 'held', id, consentId: textAt(answer.body, 'consentId'), words: '', retryAfter: null };
}

for (const entry of SENDING_ENTRY_POINTS)
  describe(`a held message by ${entry}, edited and approved`, () => {
    const held = async (to: readonly string[], subject = 'As written', text = 'As written by the agent.') => {
      const answer = await world.send(entry, mailbox(), { to, subject, text });
      assert.equal(answer.kind, 'held', answer.words);
      return answer;
    };

    test('is sent as the person wrote it, to the recipients of the person, and the changes are visible', async () => {
      const [first, second, hidden] = [stranger(), stranger(), stranger()];
      const message = await held([first]);
      const answer = await approve(message, {
        subject: 'Größer geschrieben',
        text: 'As written by a person.',
        to: [`Ada <${second}>`],
        bcc: [hidden],
      });
      assert.equal(answer.status, 200, answer.text);
      const changes = at(answer.body, 'decision', 'changes');
      assert.deepEqual(at(changes, 'subject'), { before: 'As written', after: 'Größer geschrieben', cut: false });
      assert.equal(textAt(changes, 'text', 'before').trim(), 'As written by the agent.');
      assert.equal(at(changes, 'text', 'after'), 'As written by a person.');
      assert.deepEqual(at(changes, 'to'), { before: [first], after: [`Ada <${second}>`] });
      assert.deepEqual(at(changes, 'bcc'), { before: [], after: [hidden] });
      assert.deepEqual(at(answer.body, 'recipients'), [second, hidden].toSorted());
      const mail = await theMailTo(second);
      assert.deepEqual([mail.subject, mail.text?.trim()], ['Größer geschrieben', 'As written by a person.']);
      assert.deepEqual(mail.to, [{ name: 'Ada', address: second }]);
      assert.equal((await theMailTo(hidden)).subject, 'Größer geschrieben');
      assert.ok(!String(receivedBy(hidden)[0]?.bytes).includes(hidden), 'the blind copy is in no byte');
      assert.equal(receivedBy(first).length, 0);
      await world.reaches(mailbox(), message.id, 'sent');
      assert.equal((await world.folder(mailbox(), 'Sent'))[0], 'Größer geschrieben');

      const [event] = await world.events('outbound_consent_approved', message.id);
      assert.deepEqual(at(event, 'decision', 'changes'), changes);
      const audit = await world.api.call('GET', '/api/audit?limit=20', { as: organization.owner.session });
      const entries = Object.values(Object(at(audit.body, 'data')));
      const entry = entries.find((each) => at(each, 'targetId') === message.consentId);
      assert.deepEqual(at(entry, 'details', 'changes'), changes);
      const whole = await world.api.call('GET', `/api/consents/${message.consentId}/message`, { as: person() });
      assert.deepEqual([at(whole.body, 'hashMatches'), at(whole.body, 'subject')], [true, 'Größer geschrieben']);
    });

    test('keeps threading, Message-ID and further header fields', async () => {
      const colleague = await world.api.newMailbox(organization);
      const subject = `Where is it ${++number}`;
      await world.send('REST', colleague, { to: [mailbox().address], subject });
      const inbox = await world.api.call('GET', '/api/mailbox/messages?folder=INBOX&limit=1', { as: mailbox().token });
      const id = textAt(inbox.body, 'data', 0, 'id');
      const full = await world.api.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox().token });
      const header = textAt(full.body, 'messageId');
      const to = stranger();
      const message = await world.send(entry, mailbox(), {
        to: [to],
        subject: `Re: ${subject}`,
        answers: { id, header },
      });
      const [before] = await world.api.sql(`select message_id_header as h from outbound_message where id = $1`, [
        message.id,
      ]);
      assert.equal((await approve(message, { text: 'It is on its way.', to: [to] })).status, 200);
      const mail = await theMailTo(to);
      assert.deepEqual([mail.inReplyTo, mail.messageId], [header, before?.['h']]);
      assert.ok(mail.references.includes(header));
    });

    test('with a scope for good lets pass whom the person named, and not whom the person removed', async () => {
      const [removed, named] = [stranger(), stranger()];
      const message = await held([removed]);
      const other = await held([named]);
      assert.equal((await approve(message, { to: [named] }, 'address')).status, 200);
      assert.equal(at(await consentOf(other), 'status'), 'approved', 'what the edited recipients cover goes too');
      assert.equal((await world.send(entry, mailbox(), { to: [named] })).kind, 'accepted');
      assert.equal((await world.send(entry, mailbox(), { to: [removed] })).kind, 'held');
    });

    test('is a decision about those who need one, or if nobody does, about all outside', async () => {
      const known = stranger();
      await approve(await held([known]), undefined, 'address');
      const [mixed, familiar] = [await held([stranger()]), await held([stranger()])];
      const unknown = stranger();
      const decided = await approve(mixed, { to: [known, unknown] });
      assert.deepEqual(at(decided.body, 'recipients'), [unknown]);
      assert.deepEqual(at((await approve(familiar, { to: [known] })).body, 'recipients'), [known]);
    });

    test('and denied by somebody else at the same moment is the one or the other, whole', async () => {
      for (let round = 0; round < 4; round++) {
        const [to, edited] = [stranger(), stranger()];
        const message = await held([to]);
        const deny = () =>
          world.api.call('POST', `/api/consents/${message.consentId}/deny`, {
            as: organization.admin.session,
            body: {},
          });
        const answers =
          round % 2 === 0
            ? await Promise.all([approve(message, { text: 'Edited.', to: [edited] }), deny()])
            : (await Promise.all([deny(), approve(message, { text: 'Edited.', to: [edited] })])).toReversed();
        const [approved, denied] = answers.map(({ status }) => status);
        assert.deepEqual(
          [approved, denied].toSorted((a = 0, b = 0) => a - b),
          [200, 409],
        );
        const consent = await consentOf(message);
        if (approved === 200) {
          assert.deepEqual([at(consent, 'status'), at(consent, 'recipients')], ['approved', [edited]]);
          assert.equal((await theMailTo(edited)).text?.trim(), 'Edited.');
        } else {
          assert.deepEqual([at(consent, 'status'), at(consent, 'recipients')], ['denied', [to]]);
          assert.equal(at(consent, 'decision', 'changes'), null);
          await world.reaches(mailbox(), message.id, 'denied');
        }
        assert.equal(receivedBy(to).length, 0);
      }
    });

    test('by two persons at the same moment is the edit of one of them', async () => {
      const to = stranger();
      const message = await held([to]);
      const answers = await Promise.all([
        approve(message, { text: 'By the member.' }),
        approve(message, { text: 'By the admin.' }, 'message', organization.admin.session),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a = 0, b = 0) => a - b),
        [200, 409],
      );
      const words = answers[0]?.status === 200 ? 'By the member.' : 'By the admin.';
      assert.equal((await theMailTo(to)).text?.trim(), words);
    });

    test('after its time is a conflict, and nothing is changed', async () => {
      const message = await held([stranger()]);
      await world.api.sql(`update consent set expires_at = now() - interval '1 second' where id = $1`, [
        message.consentId,
      ]);
      const answer = await approve(message, { text: 'Too late.', to: [stranger()] });
      assert.deepEqual([answer.status, errorCode(answer)], [409, 'conflict'], answer.text);
      const [row] = await world.api.sql(`select edited, state from outbound_message where id = $1`, [message.id]);
      assert.equal(row?.['edited'], false);
    });

    test('for a blocked or suppressed recipient is refused, and the request waits on as it was', async () => {
      const [to, blocked, suppressed] = [stranger(), stranger(), stranger()];
      await world.api.call('POST', '/api/lists/outbound/block', {
        as: organization.owner.session,
        body: { value: blocked },
      });
      await world.api.sql(
        `insert into suppression (id, organization_id, address, reason) values ($1, $2, $3, 'hard_bounce')`,
        [`sup_edit${++number}`, organization.id, suppressed],
      );
      const message = await held([to]);
      for (const refused of [blocked, suppressed])
        for (const edit of [{ to: [refused] }, { cc: [refused.toUpperCase()] }, { bcc: [refused], text: 'Edited.' }]) {
          const answer = await approve(message, edit);
          assert.equal(errorCode(answer), 'recipient_blocked', answer.text);
          assert.ok(answer.text.toLowerCase().includes(refused), answer.text);
        }
      const nobody = await approve(message, { to: [] });
      assert.deepEqual([nobody.status, errorCode(nobody)], [400, 'invalid_request']);
      const whole = await world.api.call('GET', `/api/consents/${message.consentId}/message`, { as: person() });
      assert.deepEqual(
        [
          at(whole.body, 'consent', 'status'),
          at(whole.body, 'hashMatches'),
          at(whole.body, 'recipients', 0, 'address'),
        ],
        ['pending', true, to],
      );
      assert.equal((await approve(message, undefined)).status, 200);
      assert.equal((await theMailTo(to)).text?.trim(), 'As written by the agent.');
    });

    test('is for a person: no token edits, and no key unless keys may decide', async () => {
      const to = stranger();
      const message = await held([to]);
      for (const as of [mailbox().token, organization.key]) {
        const answer = await approve(message, { text: 'By an agent.' }, 'message', as);
        assert.deepEqual([answer.status, errorCode(answer)], [403, 'forbidden'], answer.text);
      }
      assert.equal((await approve(message, { text: 'x' }, 'message', world.api.other.owner.session)).status, 404);
      await settings({ consentByApiKey: true });
      assert.equal((await approve(message, { text: 'x' }, 'message', mailbox().token)).status, 403);
      const byKey = await approve(message, { text: 'By a program.' }, 'message', organization.key);
      await settings({ consentByApiKey: false });
      assert.equal(byKey.status, 200, byKey.text);
      assert.equal((await theMailTo(to)).text?.trim(), 'By a program.');
    });

    test('whose stored bytes were changed meanwhile is not made good by an edit', async () => {
      const message = await held([stranger()], 'Tampered', `Two hundred ${++number}.`);
      const change = (from: string, to: string) =>
        world.api.sql(
          `update blob set bytes = replace(encode(bytes, 'escape'), $2, $3)::bytea
            where sha256 = (select blob from outbound_message where id = $1)`,
          [message.id, from, to],
        );
      await change('Two hundred', 'Ten hundred');
      const answer = await approve(message, { subject: 'Fine' });
      assert.equal(errorCode(answer), 'conflict', answer.text);
      assert.equal(at(await consentOf(message), 'status'), 'pending');
      await change('Ten hundred', 'Two hundred');
    });
  });

describe('the parts of an edited message', () => {
  const PDF = {
    filename: 'invoice.pdf',
    contentType: 'application/pdf',
    contentBase64: 'JVBERi0xLjQgYW4gaW52b2ljZQ==',
  };
  const PIXEL = {
    filename: 'logo.png',
    contentType: 'image/png',
    contentBase64: 'iVBORw0KGgo=',
    contentId: 'logo@acme',
  };

  test('an HTML-only message with an attachment stays one', async () => {
    const to = stranger();
    const html = '<p>Old <img src="cid:logo@acme"></p>';
    const message = await heldByRest({ to: [to], subject: 'Invoice', html, attachments: [PDF, PIXEL] });
    const edited = '<p>New <img src="cid:logo@acme"></p>';
    const answer = await approve(message, { html: edited });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(Object(at(answer.body, 'decision', 'changes'))), ['html']);
    const mail = await theMailTo(to);
    assert.deepEqual([mail.html?.trim(), mail.text], [edited, undefined]);
    assert.ok(!String(receivedBy(to)[0]?.bytes).includes('text/plain'), 'there is no plain part');
    const files = mail.attachments.map(({ filename, contentType, content, contentId }) => [
      filename,
      contentType,
      content.toString('base64'),
      contentId,
    ]);
    assert.deepEqual(
      files.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
      [
        ['invoice.pdf', 'application/pdf', PDF.contentBase64, undefined],
        ['logo.png', 'image/png', PIXEL.contentBase64, 'logo@acme'],
      ],
    );
  });

  test('of a message with text and HTML both are given, since readers see one of them', async () => {
    const to = stranger();
    const message = await heldByRest({ to: [to], subject: 'Both', text: 'Old', html: '<p>Old</p>' });
    for (const [edit, path] of [
      [{ text: 'New' }, '/edit/html'],
      [{ html: '<p>New</p>' }, '/edit/text'],
    ] as const) {
      const answer = await approve(message, edit);
      assert.equal(errorCode(answer), 'invalid_request');
      assert.equal(at(answer.body, 'error', 'details', 0, 'path'), path);
    }
    assert.equal((await approve(message, { text: 'New', html: null })).status, 200);
    const mail = await theMailTo(to);
    assert.deepEqual([mail.text?.trim(), mail.html], ['New', undefined]);
  });

  test('a change of subject and recipients leaves every byte of the body as it was', async () => {
    const to = stranger();
    const message = await heldByRest({
      to: [to],
      subject: 'Old',
      text: 'Text',
      html: '<p>Text</p>',
      attachments: [PDF],
    });
    const raw = async () =>
      (await world.api.call('GET', `/api/consents/${message.consentId}/message/raw`, { as: person() })).text;
    const before = await raw();
    assert.equal((await approve(message, { subject: 'New', cc: [stranger()] })).status, 200);
    const after = await raw();
    const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n'));
    assert.equal(bodyOf(after), bodyOf(before));
    assert.match(after, /^Subject: New\r$/m);
    assert.ok(!/^Subject: Old\r$/m.test(after));
    assert.equal((await theMailTo(to)).subject, 'New');
  });

  test('a signed body is not changed, its header may be', async () => {
    const to = stranger();
    const client = await logIn(world.mail.submissionStarttls, {
      address: mailbox().address,
      token: passwordOf(mailbox()),
    });
    const words = await client.send(
      mailbox().address,
      [to],
      [
        `From: ${mailbox().address}`,
        `To: ${to}`,
        'Subject: Signed',
        'MIME-Version: 1.0',
        'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary="s"',
        '',
        '--s',
        'Content-Type: text/plain',
        '',
        'Signed words.',
        '--s',
        'Content-Type: application/pgp-signature',
        '',
        '-----BEGIN PGP SIGNATURE-----',
        '--s--',
        '',
      ].join('\n'),
    );
    client.close();
    const [, consentId = ''] = /held for consent (con_\w+)$/.exec(words) ?? [];
    const refused = await approve({ consentId }, { text: 'Other words.' });
    assert.equal(errorCode(refused), 'invalid_request', refused.text);
    assert.equal((await approve({ consentId }, { subject: 'Still signed' })).status, 200);
    const mail = await theMailTo(to);
    assert.deepEqual([mail.subject, mail.text?.trim()], ['Still signed', 'Signed words.']);
  });

  test('a long text is kept in the record up to a bound, and leaves whole', async () => {
    const to = stranger();
    const message = await heldByRest({ to: [to], subject: 'Long', text: 'Short' });
    const text = 'word '.repeat(10_000).trim();
    const answer = await approve(message, { text });
    assert.deepEqual(
      [
        textAt(answer.body, 'decision', 'changes', 'text', 'after').length,
        at(answer.body, 'decision', 'changes', 'text', 'cut'),
      ],
      [16_384, true],
    );
    assert.equal((await theMailTo(to)).text?.trim(), text);
  });
});

test('the mail store is sound after all of it', async () => {
  const rules = await checkMailStore(world.api.services.db, { all: true });
  assert.deepEqual(
    rules.filter(({ atFault }) => atFault > 0),
    [],
  );
});
