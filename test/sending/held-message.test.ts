/** What a person sees before a decision, by REST and by SMTP: all of the message, and nobody else sees more than before. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { at, type Credential, errorCode, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  openSendingWorld,
  passwordOf,
  SENDING_ENTRY_POINTS,
  type SendingEntryPoint,
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
const PDF = Buffer.from('%PDF-1.4 an invoice').toString('base64');

const as = () => organization.member.session;
const get = (path: string, credential: Credential = as()) => world.api.call('GET', path, { as: credential });

async function shown(consentId: string): Promise<unknown> {
  const answer = await get(`/api/consents/${consentId}/message`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Plain text, HTML and an attachment, with a copy and a blind copy. */
async function submitWhole(entry: SendingEntryPoint, to: string, cc: string, bcc: string): Promise<string> {
  const { mailbox } = organization;
  if (entry === 'REST') {
    const answer = await world.api.call('POST', '/api/mailbox/messages', {
      as: mailbox.token,
      body: {
        to: [`Ada <${to}>`],
        cc: [cc],
        bcc: [bcc],
        replyTo: ['desk@acme.example'],
        subject: 'Invoice',
        text: 'The invoice is attached.',
        html: '<p>The invoice is <b onclick="steal()">attached</b>.</p>',
        attachments: [{ filename: 'invoice.pdf', contentType: 'application/pdf', contentBase64: PDF }],
      },
    });
    assert.equal(answer.status, 202, answer.text);
    return textAt(answer.body, 'consentId');
  }
  const client = await logIn(world.mail.submissionStarttls, { address: mailbox.address, token: passwordOf(mailbox) });
  const lines = [
    `From: ${mailbox.address}`,
    `To: Ada <${to}>`,
    `Cc: ${cc}`,
    'Reply-To: desk@acme.example',
    'Subject: Invoice',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="m"',
    '',
    '--m',
    'Content-Type: multipart/alternative; boundary="a"',
    '',
    '--a',
    'Content-Type: text/plain',
    '',
    'The invoice is attached.',
    '--a',
    'Content-Type: text/html',
    '',
    '<p>The invoice is <b onclick="steal()">attached</b>.</p>',
    '--a--',
    '--m',
    'Content-Type: application/pdf; name="invoice.pdf"',
    'Content-Disposition: attachment; filename="invoice.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    PDF,
    '--m--',
    '',
  ];
  const words = await client.send(mailbox.address, [to, cc, bcc], lines.join('\n'));
  client.close();
  const [, consentId = ''] = /^250 2\.0\.0 held for consent (con_\w+)$/.exec(words) ?? [];
  assert.notEqual(consentId, '', words);
  return consentId;
}

for (const entry of SENDING_ENTRY_POINTS)
  describe(`a held message by ${entry}`, () => {
    test('is shown completely to a person: texts as sent, attachment, all recipients, why it is held', async () => {
      const [to, cc, bcc] = [stranger(), stranger(), stranger()];
      await world.api.call('PATCH', `/api/mailboxes/${organization.mailbox.id}`, {
        as: as(),
        body: { purpose: 'Sends invoices' },
      });
      const consentId = await submitWhole(entry, to, cc, bcc);
      const body = await shown(consentId);
      assert.equal(at(body, 'subject'), 'Invoice');
      assert.equal(textAt(body, 'text').trim(), 'The invoice is attached.');
      assert.equal(textAt(body, 'html').trim(), '<p>The invoice is <b onclick="steal()">attached</b>.</p>');
      assert.equal(textAt(body, 'textOfHtml').trim(), 'The invoice is attached.');
      const same = { onlyInText: [], onlyInHtml: [], linksOnlyInText: [], linksOnlyInHtml: [], complete: true };
      assert.deepEqual(at(body, 'textAndHtml'), same);
      assert.deepEqual([at(body, 'to'), at(body, 'cc'), at(body, 'bcc')], [[`Ada <${to}>`], [cc], [bcc]]);
      assert.deepEqual(at(body, 'replyTo'), ['desk@acme.example']);
      assert.equal(at(body, 'mailbox', 'purpose'), 'Sends invoices');
      assert.deepEqual(
        [0, 1, 2].map((i) => [at(body, 'recipients', i, 'address'), at(body, 'recipients', i, 'as')]),
        [
          [to, 'to'],
          [cc, 'cc'],
          [bcc, 'bcc'],
        ],
      );
      assert.equal(at(body, 'heldBecause', 'kind'), 'first_contact');
      for (const address of [to, cc, bcc]) assert.ok(textAt(body, 'heldBecause', 'sentence').includes(address));
      assert.equal(at(body, 'hashMatches'), true);
      assert.deepEqual([at(body, 'truncated'), at(body, 'answers')], [false, null]);
      const [attachment] = at(body, 'attachments') as [unknown];
      assert.deepEqual(
        [at(attachment, 'filename'), at(attachment, 'contentType'), at(attachment, 'sizeBytes')],
        ['invoice.pdf', 'application/pdf', Buffer.from(PDF, 'base64').length],
      );
      const file = await get(`/api/consents/${consentId}/message/attachments/${textAt(attachment, 'id')}`);
      assert.equal(file.text, '%PDF-1.4 an invoice');
      assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="invoice\.pdf"/);
      assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
      assert.match(file.headers.get('content-security-policy') ?? '', /sandbox/);
      const raw = await get(`/api/consents/${consentId}/message/raw`);
      assert.match(raw.text, /^Subject: Invoice\r$/m);
      assert.ok(!raw.text.includes(bcc), 'the blind copy is in no byte');
      assert.equal(raw.headers.get('content-type'), 'message/rfc822');
      assert.equal((await get(`/api/consents/${consentId}/message/attachments/9`)).status, 404);
    });

    test('whose stored bytes were changed shows that the hash does not match', async () => {
      const held = await world.send(entry, organization.mailbox, {
        to: [stranger()],
        text: `Two hundred ${++number}.`,
      });
      const change = (from: string, to: string) =>
        world.api.sql(
          `update blob set bytes = replace(encode(bytes, 'escape'), $2, $3)::bytea
            where sha256 = (select blob from outbound_message where id = $1)`,
          [held.id, from, to],
        );
      await change('Two hundred', 'Ten hundred');
      const body = await shown(held.consentId);
      assert.match(textAt(body, 'text'), /^Ten hundred/);
      assert.equal(at(body, 'hashMatches'), false);
      await change('Ten hundred', 'Two hundred');
      assert.equal(at(await shown(held.consentId), 'hashMatches'), true);
      const to = `update outbound_recipient set address = $2 where message_id = $1 returning address`;
      const [before] = await world.api.sql(`select address from outbound_recipient where message_id = $1`, [held.id]);
      await world.api.sql(to, [held.id, 'thief@example.com']);
      assert.equal(at(await shown(held.consentId), 'hashMatches'), false, 'another recipient');
      await world.api.sql(to, [held.id, before?.['address']]);
    });

    test('is approved by its hash alone: with that of another content nothing is decided', async () => {
      const held = await world.send(entry, organization.mailbox, {
        to: [stranger()],
        text: `Three hundred ${++number}.`,
      });
      const sha256 = textAt(await shown(held.consentId), 'sha256');
      const approve = (hash: string, edit?: object) =>
        world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
          as: as(),
          body: { scope: 'message', sha256: hash, ...(edit === undefined ? {} : { edit }) },
        });
      const change = (from: string, to: string) =>
        world.api.sql(
          `update blob set bytes = replace(encode(bytes, 'escape'), $2, $3)::bytea
            where sha256 = (select blob from outbound_message where id = $1)`,
          [held.id, from, to],
        );
      const pending = async () =>
        assert.equal(at(await shown(held.consentId), 'consent', 'status'), 'pending', 'nothing is decided');
      for (const edit of [undefined, { subject: 'Another' }]) {
        const refused = await approve('0'.repeat(64), edit);
        assert.deepEqual([refused.status, errorCode(refused)], [409, 'conflict']);
        await pending();
      }
      await change('Three hundred', 'Nine hundred');
      assert.equal((await approve(sha256)).status, 409, 'the bytes are others');
      await pending();
      await change('Nine hundred', 'Three hundred');
      assert.equal((await approve('not a hash')).status, 400);
      const approved = await approve(sha256);
      assert.equal(approved.status, 200, approved.text);
    });

    test('is not shown to agents: their tokens and keys see nothing more', async () => {
      const held = await world.send(entry, organization.mailbox, { to: [stranger()], text: 'Nothing for agents.' });
      const paths = ['', '/raw', '/attachments/1'].map((rest) => `/api/consents/${held.consentId}/message${rest}`);
      for (const path of paths) {
        const byToken = await get(path, organization.mailbox.token);
        assert.deepEqual([byToken.status, errorCode(byToken)], [403, 'forbidden'], path);
        const byKey = await get(path, organization.key);
        assert.deepEqual([byKey.status, errorCode(byKey)], [403, 'forbidden'], path);
        assert.equal((await get(path, world.api.other.owner.session)).status, 404, 'another organization');
        assert.ok(!byKey.text.includes('Nothing for agents') && !byToken.text.includes('Nothing for agents'));
      }
      const known = await get(`/api/consents/${held.consentId}`, organization.key);
      assert.deepEqual(Object.keys(Object(known.body)).toSorted(), [
        'createdAt',
        'decision',
        'expiresAt',
        'firstApproval',
        'heldBecause',
        'id',
        'mailboxId',
        'messageId',
        'preview',
        'recipients',
        'resubmits',
        'risk',
        'status',
        'subject',
        'undoUntil',
      ]);
      assert.equal((await get(`/api/mailbox/messages/${held.id}`, organization.mailbox.token)).status, 404);
      await world.api.call('PATCH', '/api/organization', {
        as: organization.owner.session,
        body: { settings: { consentByApiKey: true } },
      });
      const allowed = await get(paths[0] ?? '', organization.key);
      assert.equal(allowed.status, 200, allowed.text);
      assert.equal((await get(paths[0] ?? '', organization.mailbox.token)).status, 403);
      await world.api.call('PATCH', '/api/organization', {
        as: organization.owner.session,
        body: { settings: { consentByApiKey: false } },
      });
    });

    test('includes earlier messages to its recipient and domain', async () => {
      const domain = `known${++number}.example`;
      const [old, new_] = [stranger(domain), stranger(domain)];
      const first = await world.send(entry, organization.mailbox, { to: [old], subject: 'The first' });
      await world.api.call('POST', `/api/consents/${first.consentId}/approve`, {
        as: as(),
        body: { scope: 'message' },
      });
      await world.reaches(organization.mailbox, first.id, 'sent');
      const denied = await world.send(entry, organization.mailbox, { to: [old], subject: 'Never sent' });
      await world.api.call('POST', `/api/consents/${denied.consentId}/deny`, { as: as(), body: {} });
      const second = await world.send(entry, organization.mailbox, { to: [old, new_], subject: 'The second' });
      const body = await shown(second.consentId);
      assert.deepEqual(
        [0, 1].map((i) => [
          at(body, 'recipients', i, 'toAddress', 'count'),
          at(body, 'recipients', i, 'toDomain', 'count'),
        ]),
        [
          [1, 1],
          [0, 1],
        ],
      );
      assert.equal(at(body, 'recipients', 0, 'toAddress', 'newest', 0, 'subject'), 'The first');
      assert.equal(at(body, 'recipients', 1, 'toDomain', 'newest', 0, 'messageId'), first.id);
    });

    test('that is a reply includes the answered message and its thread', async () => {
      const colleague = await world.api.newMailbox(organization);
      const subject = `Where is it ${++number}`;
      await world.send('REST', colleague, { to: [organization.mailbox.address], subject, text: 'Where is my order?' });
      const inbox = await get('/api/mailbox/messages?folder=INBOX&limit=1', organization.mailbox.token);
      const answered = textAt(inbox.body, 'data', 0, 'id');
      const full = await get(`/api/mailbox/messages/${answered}`, organization.mailbox.token);
      const answers = { id: answered, header: textAt(full.body, 'messageId') };
      const held = await world.send(entry, organization.mailbox, {
        to: [stranger()],
        subject: `Re: ${subject}`,
        answers,
      });
      assert.equal(held.kind, 'held', held.words);
      const body = await shown(held.consentId);
      assert.deepEqual(
        [at(body, 'answers', 'as'), at(body, 'answers', 'message', 'id'), at(body, 'answers', 'message', 'subject')],
        ['answered', answered, subject],
      );
      assert.match(textAt(body, 'answers', 'message', 'text'), /^Where is my order\?/);
      assert.deepEqual(at(body, 'answers', 'earlier'), []);
    });

    test('that begins a conversation answers nothing, also after it is approved and answered', async () => {
      const colleague = await world.api.newMailbox(organization);
      const subject = `A beginning ${++number}`;
      const held = await world.send(entry, organization.mailbox, { to: [stranger()], subject });
      assert.equal(held.kind, 'held', held.words);
      assert.equal(at(await shown(held.consentId), 'answers'), null);
      const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
        as: as(),
        body: { scope: 'message' },
      });
      assert.equal(approved.status, 200, approved.text);
      const path = `/api/mailbox/messages/${textAt(approved.body, 'messageId')}`;
      await waitUntil(
        'the message to be sent',
        async () => (await get(path, organization.mailbox.token)).status === 200,
      );
      assert.equal(at(await shown(held.consentId), 'answers'), null, 'its own thread is no conversation before it');
      const sent = await get(path, organization.mailbox.token);
      const answers = { id: '', header: textAt(sent.body, 'messageId') };
      await world.send('SMTP', colleague, { to: [organization.mailbox.address], subject: `Re: ${subject}`, answers });
      const inbox = await get('/api/mailbox/messages?folder=INBOX&limit=1', organization.mailbox.token);
      assert.equal(at(inbox.body, 'data', 0, 'threadId'), at(sent.body, 'threadId'), 'the answer is in the thread');
      assert.equal(at(await shown(held.consentId), 'answers'), null, 'a later answer is nothing that it answers');
    });
  });
