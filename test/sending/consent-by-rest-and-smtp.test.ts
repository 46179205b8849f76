/** Consent from the submission to the receiving host: the same by REST and by SMTP, decided over REST. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HELD_SENTENCE } from '#domain/sending/consent.ts';
import { at, errorCode, type TestMailbox, type TestOrganization } from '#test/support/api-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import {
  type Answered,
  type Letter,
  openSendingWorld,
  SENDING_ENTRY_POINTS,
  type SendingWorld,
} from './sending-world.ts';

let world: SendingWorld;
let organization: TestOrganization;
let from: TestMailbox;
before(async () => {
  world = await openSendingWorld();
  organization = await world.api.newOrganization('unlimited');
  from = organization.mailbox;
});
after(() => world?.close());

let number = 0;
const stranger = (domain = `d${++number}.example`) => `p${++number}@${domain}`;

const decide = ({ consentId }: Answered, verb: 'approve' | 'deny', body: object, as = organization.member.session) =>
  world.api.call('POST', `/api/consents/${consentId}/${verb}`, { as, body });

async function approve(held: Answered, scope: 'message' | 'address' | 'domain'): Promise<void> {
  const answer = await decide(held, 'approve', { scope });
  assert.equal(answer.status, 200, answer.text);
}

const settings = async (change: object) => {
  const answer = await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: change },
  });
  assert.equal(answer.status, 200, answer.text);
};

const receivedBy = (address: string) => world.peer.received.filter(({ to }) => to.includes(address)).length;
const headerOf = async (id: string) =>
  String(
    (await world.api.sql(`select message_id_header as header from outbound_message where id = $1`, [id]))[0]?.[
      'header'
    ],
  );

/** The recipient answers a message. @returns the answer in the INBOX */
async function answerTo({ id }: Answered, author: string): Promise<{ id: string; header: string }> {
  const header = `<answer-to-${id}@outside.example>`;
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const reply = await client.send(
    author,
    [from.address],
    `From: ${author}\nTo: ${from.address}\nSubject: Re: Question\nMessage-ID: ${header}\nIn-Reply-To: ${await headerOf(id)}\n\nAn answer.\n`,
  );
  client.close();
  assert.match(reply, /^250/);
  return { id: /msg_\w+/.exec(reply)?.[0] ?? '', header };
}

for (const entry of SENDING_ENTRY_POINTS) {
  const send = (to: readonly string[], more: Omit<Letter, 'to'> = {}) => world.send(entry, from, { to, ...more });
  const held = async (to: readonly string[], subject = 'Held'): Promise<Answered> => {
    const answer = await send(to, { subject });
    assert.equal(answer.kind, 'held', answer.words);
    return answer;
  };
  const passes = async (to: readonly string[], more: Omit<Letter, 'to'> = {}) => {
    const answer = await send(to, more);
    assert.equal(answer.kind, 'accepted', answer.words);
    await world.reaches(from, answer.id, 'sent');
  };

  describe(`mail to a stranger by ${entry}`, () => {
    test('is answered with a text that does not look like a failure', async () => {
      const { words, consentId } = await held([stranger()]);
      if (entry === 'REST') assert.ok(words.startsWith('202') && words.includes(HELD_SENTENCE), words);
      else assert.equal(words, `250 2.0.0 held for consent ${consentId}`);
    });

    test('is held for recipients here and in Sent too, until it is approved; then each has it once', async () => {
      const colleague = await world.api.newMailbox(organization);
      const to = stranger();
      const subject = `together ${entry}`;
      const message = await held([to, colleague.address], subject);
      assert.equal(await world.status(from, message.id), 'consent_pending');
      const nowhere = [await world.folder(from, 'Sent'), await world.folder(colleague, 'INBOX')];
      assert.ok(!nowhere.flat().includes(subject));
      const [requested] = await world.events('outbound_consent_requested', message.id);
      assert.deepEqual([requested?.['recipients'], requested?.['consentId']], [[to], message.consentId]);
      await approve(message, 'message');
      await world.reaches(from, message.id, 'sent');
      assert.equal((await world.folder(from, 'Sent')).filter((each) => each === subject).length, 1);
      assert.deepEqual(await world.folder(colleague, 'INBOX'), [subject]);
      assert.equal(receivedBy(to), 1);
      assert.equal((await world.events('outbound_consent_approved', message.id)).length, 1);
      assert.equal((await world.events('email_sent', message.id)).length, 1);
    });

    test('approved for the message covers replies to answers in its thread, and nothing else', async () => {
      const to = stranger();
      const first = await held([to], `Question ${number}`);
      await approve(first, 'message');
      await world.reaches(from, first.id, 'sent');
      const answers = await answerTo(first, to);
      const toAuthor = entry === 'REST' ? [] : [to];
      await passes(toAuthor, { subject: 'Re: Question', answers });
      await held([to], 'Something else');
      const own = { id: first.id, header: await headerOf(first.id) };
      const again = await send(toAuthor, { subject: 'Re: Question', answers: own });
      assert.equal(again.kind, 'held', 'a second message that answers nobody');
      const other = await send([stranger()], { subject: 'Re: Question', answers });
      assert.equal(other.kind, 'held', 'another address in the same thread');
    });

    test('approved for the address releases messages that wait only for it, and later mail passes', async () => {
      const to = stranger();
      const [first, second] = [await held([to]), await held([to])];
      const more = await held([to, stranger()]);
      await approve(first, 'address');
      await world.reaches(from, first.id, 'sent');
      await world.reaches(from, second.id, 'sent');
      assert.equal(await world.status(from, more.id), 'consent_pending');
      await passes([to]);
      assert.equal(receivedBy(to), 3);
      assert.equal((await world.events('outbound_consent_approved', second.id)).length, 1);
    });

    test('approved for the domain releases messages to others there, and not to a subdomain', async () => {
      const domain = `whole${++number}.example`;
      const [first, second] = [await held([stranger(domain)]), await held([stranger(domain), stranger(domain)])];
      const below = await held([stranger(`sub.${domain}`)]);
      await approve(first, 'domain');
      await world.reaches(from, first.id, 'sent');
      await world.reaches(from, second.id, 'sent');
      assert.equal(await world.status(from, below.id), 'consent_pending');
      await passes([stranger(domain)]);
    });

    test('denied reaches nobody, and says why; a second decision is a conflict', async () => {
      const to = stranger();
      const message = await held([to], 'Unwanted');
      const answer = await decide(message, 'deny', { reason: 'No customer of ours' });
      assert.equal(answer.status, 200, answer.text);
      await world.reaches(from, message.id, 'denied');
      assert.equal(receivedBy(to), 0);
      assert.ok(!(await world.folder(from, 'Sent')).includes('Unwanted'));
      const [denied] = await world.events('outbound_consent_denied', message.id);
      assert.equal(at(denied?.['decision'], 'reason'), 'No customer of ours');
      const [blocked] = await world.events('email_blocked', message.id);
      assert.deepEqual([blocked?.['reason'], blocked?.['to']], ['consent_denied', [to]]);
      for (const [verb, body] of [
        ['approve', { scope: 'domain' }],
        ['deny', {}],
      ] as const) {
        const again = await decide(message, verb, body);
        assert.deepEqual([again.status, errorCode(again)], [409, 'conflict']);
      }
      await held([to]);
    });

    test('decided by two people at once is decided once', async () => {
      const message = await held([stranger()]);
      const answers = await Promise.all([
        decide(message, 'approve', { scope: 'message' }),
        decide(message, 'deny', {}, organization.owner.session),
        decide(message, 'approve', { scope: 'address' }, organization.admin.session),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 409, 409],
      );
      const decisions = [
        ...(await world.events('outbound_consent_approved', message.id)),
        ...(await world.events('outbound_consent_denied', message.id)),
      ];
      assert.equal(decisions.length, 1);
    });

    test('is not decided by a mailbox token, alone or with a session or a key, nor by a member of another organization', async () => {
      const message = await held([stranger()]);
      await settings({ consentByApiKey: true });
      const { token } = from;
      const { authorization } = organization.owner.session;
      for (const [as, status] of [
        [token, 403],
        [{ ...organization.key, ...token }, 400],
        [{ ...token, 'x-session': authorization ?? '' }, 403],
      ] as const)
        for (const [verb, body] of [
          ['approve', { scope: 'message' }],
          ['deny', {}],
        ] as const) {
          const answer = await decide(message, verb, body, as);
          assert.equal(answer.status, status, answer.text);
        }
      await settings({ consentByApiKey: false });
      assert.equal((await decide(message, 'approve', { scope: 'message' }, world.api.other.owner.session)).status, 404);
      assert.equal(await world.status(from, message.id), 'consent_pending');
    });

    test('whose stored bytes are changed after the request is never released, and ends visibly', async () => {
      const to = stranger();
      const message = await held([to], 'Two hundred');
      const changed = await world.api.sql(
        `update blob set bytes = replace(encode(bytes, 'escape'), 'Two hundred', 'Ten hundred')::bytea
          where sha256 = (select blob from outbound_message where id = $1) returning 1`,
        [message.id],
      );
      assert.equal(changed.length, 1);
      await approve(message, 'message');
      await world.reaches(from, message.id, 'denied');
      assert.equal(receivedBy(to), 0);
      const [blocked] = await world.events('email_blocked', message.id);
      assert.equal(blocked?.['reason'], 'content_changed');
      await world.api.sql(
        `update blob set bytes = replace(encode(bytes, 'escape'), 'Ten hundred', 'Two hundred')::bytea
          where sha256 = (select blob from outbound_message where id = $1)`,
        [message.id],
      );
    });

    test('is refused, not held, by a mailbox that has no room for the copy', async () => {
      const full = await world.api.newMailbox(organization);
      await world.api.sql(`update mailbox_counter set quota_bytes = bytes_used + 100 where mailbox_id = $1`, [full.id]);
      const answer = await world.send(entry, full, { to: [stranger()] });
      assert.equal(answer.kind, 'refused');
      assert.match(answer.words, entry === 'REST' ? /quota_exceeded/ : /^452 4\.2\.2 /);
      const waiting = await world.api.sql(`select 1 from outbound_message where mailbox_id = $1`, [full.id]);
      assert.equal(waiting.length, 0);
    });
  });

  describe(`who needs no consent by ${entry}`, () => {
    test('colleagues, whatever the mode', async () => {
      const colleague = await world.api.newMailbox(organization);
      for (const mode of ['always', 'first_contact', 'off']) {
        await settings({ outboundConsent: mode });
        await passes([colleague.address]);
      }
      await settings({ outboundConsent: 'first_contact' });
    });

    test('nobody at all in mode off, and everybody outside does in mode always', async () => {
      const friend = stranger();
      await approve(await held([friend]), 'address');
      await passes([friend]);
      await settings({ outboundConsent: 'always' });
      const again = await held([friend]);
      await approve(again, 'address');
      await world.reaches(from, again.id, 'sent');
      await held([friend]);
      await settings({ outboundConsent: 'off' });
      await passes([stranger()]);
      await settings({ outboundConsent: 'first_contact' });
    });

    test('who is on the allow list, of the organization or of the mailbox, and nobody beside', async () => {
      const as = organization.owner.session;
      const [everywhere, here] = [`ally${++number}.example`, stranger()];
      await world.api.call('POST', '/api/lists/outbound/allow', { as, body: { value: everywhere } });
      await world.api.call('POST', '/api/lists/outbound/allow', { as, body: { value: here, mailboxId: from.id } });
      await passes([stranger(everywhere), here]);
      const other = await world.api.newMailbox(organization);
      assert.equal((await world.send(entry, other, { to: [here] })).kind, 'held');
      await held([stranger(everywhere), stranger()]);
    });

    test('mailboxes of another organization here do', async () => {
      await held([world.api.other.mailbox.address]);
    });
  });
}
