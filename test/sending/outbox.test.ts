/** What an agent sees of its waiting mail: outbox, status, stream and long poll; and withdrawing it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { at, errorCode, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Answered, openSendingWorld, SENDING_ENTRY_POINTS, type SendingWorld } from './sending-world.ts';

let world: SendingWorld;
let organization: TestOrganization;
before(async () => {
  // What is put off stays so for the length of a test.
  world = await openSendingWorld({ settings: { OUTBOUND_RETRY_DELAYS_MS: '600000' } });
  organization = await world.api.newOrganization('unlimited');
});
after(() => world?.close());

let number = 0;
const stranger = () => `p${++number}@d${number}.example`;
const mailbox = () => organization.mailbox;
const person = () => organization.member.session;

async function outbox(of: TestMailbox = mailbox()): Promise<unknown[]> {
  const answer = await world.api.call('GET', '/api/mailbox/messages/outbox', { as: of.token });
  assert.equal(answer.status, 200, answer.text);
  return Object.values(Object(at(answer.body, 'data')));
}

async function entry(id: string): Promise<unknown> {
  const found = (await outbox()).find((each) => at(each, 'id') === id);
  assert.ok(found !== undefined, `${id} is in the outbox`);
  return found;
}

const decide = async ({ consentId }: Pick<Answered, 'consentId'>, verb: 'approve' | 'deny', body: object) => {
  const answer = await world.api.call('POST', `/api/consents/${consentId}/${verb}`, { as: person(), body });
  assert.equal(answer.status, 200, answer.text);
};

/** As the entry itself says. */
async function withdraw(id: string) {
  const request = at(await entry(id), 'withdraw');
  return world.api.call(textAt(request, 'method'), textAt(request, 'path'), { as: mailbox().token });
}

async function settings(change: object): Promise<void> {
  const as = organization.owner.session;
  const answer = await world.api.call('PATCH', '/api/organization', { as, body: { settings: change } });
  assert.equal(answer.status, 200, answer.text);
}

/** Reads the stream until an event of this name came. @returns its id and data, and the id the stream began with */
async function nextEvent(name: string, act: () => Promise<void>, lastEventId?: string) {
  const ending = new AbortController();
  const response = await fetch(new URL('/api/mailbox/events/stream', world.api.api.url), {
    headers: { ...mailbox().token, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    signal: AbortSignal.any([ending.signal, AbortSignal.timeout(60_000)]),
  });
  assert.ok(response.body !== null);
  let text = '';
  let acted = false;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (!acted && text.includes('\n\n')) {
        acted = true;
        await act();
      }
      const [, id = '', data = ''] = new RegExp(`event: ${name}\\nid: (\\d+)\\ndata: (.*)\\n\\n`).exec(text) ?? [];
      if (data !== '') return { id, data: JSON.parse(data) as unknown, began: /id: (\d+)/.exec(text)?.[1] ?? '' };
    }
  } finally {
    ending.abort();
  }
  throw new Error(`no ${name} in ${text}`);
}

for (const entryPoint of SENDING_ENTRY_POINTS)
  describe(`a message held by ${entryPoint}`, () => {
    const held = async (to: readonly string[] = [stranger()], subject = 'Held') => {
      const answer = await world.send(entryPoint, mailbox(), { to, subject });
      assert.equal(answer.kind, 'held', answer.words);
      return answer;
    };

    test('is in the outbox with why, until when, and how to take it back', async () => {
      const to = stranger();
      const message = await held([to]);
      const shown = await entry(message.id);
      assert.deepEqual(
        [at(shown, 'state'), at(shown, 'status'), at(shown, 'consentId'), at(shown, 'decision')],
        ['held', 'consent_pending', message.consentId, null],
      );
      assert.ok(textAt(shown, 'reason').includes(to) && textAt(shown, 'reason').includes('do not send it again'));
      assert.deepEqual(at(shown, 'withdraw'), {
        method: 'DELETE',
        path: `/api/mailbox/outbox/${message.id}`,
      });
      const byKey = await world.api.call('GET', `/api/mailboxes/${mailbox().id}/messages/outbox?limit=1`, {
        as: organization.key,
      });
      assert.equal(
        at(byKey.body, 'data', 0, 'withdraw', 'path'),
        `/api/mailboxes/${mailbox().id}/outbox/${message.id}`,
      );
      const another = await world.api.newMailbox(organization);
      assert.deepEqual(await outbox(another), []);
      const foreign = await world.api.call('DELETE', `/api/mailbox/outbox/${message.id}`, {
        as: another.token,
      });
      assert.equal(foreign.status, 404, 'another mailbox cannot withdraw it');
    });

    test('edited and approved shows the changes to the agent: status, outbox, stream and long poll', async () => {
      const to = stranger();
      const message = await held([to], 'As written');
      const waiting = world.api.call(
        'GET',
        `/api/mailbox/messages/wait?consentId=${message.consentId}&timeoutSeconds=60`,
        { as: mailbox().token },
      );
      const event = await nextEvent('consent_decided', () =>
        decide(message, 'approve', { scope: 'message', edit: { subject: 'As approved' } }),
      );
      const changes = { subject: { before: 'As written', after: 'As approved', cut: false } };
      assert.deepEqual(
        [at(event.data, 'messageId'), at(event.data, 'decision', 'outcome'), at(event.data, 'decision', 'changes')],
        [message.id, 'approved', changes],
      );
      const waited = await waiting;
      assert.deepEqual(
        [at(waited.body, 'timedOut'), at(waited.body, 'data'), at(waited.body, 'consent', 'decision', 'changes')],
        [false, [], changes],
      );
      await world.reaches(mailbox(), message.id, 'sent');
      const shown = await entry(message.id);
      assert.deepEqual(
        [at(shown, 'state'), at(shown, 'subject'), at(shown, 'withdraw'), at(shown, 'decision', 'changes')],
        ['sent', 'As approved', null, changes],
      );
      const status = await world.api.call('GET', `/api/mailbox/messages/${message.id}/status`, { as: mailbox().token });
      assert.deepEqual(at(status.body, 'decision', 'changes'), changes);
      // A client that lost its connection before continues with the decision.
      const again = await nextEvent('consent_decided', async () => {}, String(Number(event.id) - 1));
      assert.deepEqual([again.id, at(again.data, 'consentId')], [event.id, message.consentId]);
      const late = await world.api.call('GET', `/api/mailbox/messages/wait?consentId=${message.consentId}`, {
        as: mailbox().token,
      });
      assert.equal(at(late.body, 'consent', 'decision', 'outcome'), 'approved', 'at once, as it is decided already');
    });

    test('denied shows the reason; undecided in time it is expired', async () => {
      const message = await held();
      const event = await nextEvent('consent_decided', () => decide(message, 'deny', { reason: 'No customer' }));
      assert.deepEqual(
        [at(event.data, 'decision', 'outcome'), at(event.data, 'decision', 'reason')],
        ['denied', 'No customer'],
      );
      const shown = await entry(message.id);
      assert.deepEqual([at(shown, 'state'), at(shown, 'reason')], ['denied', 'No customer']);
      const late = await held();
      const expired = await nextEvent('consent_decided', async () => {
        await world.api.sql(`update consent set expires_at = now() - interval '1 second' where id = $1`, [
          late.consentId,
        ]);
        const { denyByService } = await import('#sending/consent/decide-consent.ts');
        assert.equal(await denyByService(world.api.services, late.consentId, 'expired'), true);
      });
      assert.equal(at(expired.data, 'decision', 'outcome'), 'expired');
    });

    test('withdrawn reaches nobody, and cannot be approved any more', async () => {
      const to = stranger();
      const message = await held([to]);
      const event = await nextEvent('consent_decided', async () => {
        const answer = await withdraw(message.id);
        assert.deepEqual([answer.status, at(answer.body, 'draftId')], [200, null], answer.text);
      });
      assert.equal(at(event.data, 'decision', 'outcome'), 'withdrawn');
      assert.equal(at(await entry(message.id), 'state'), 'withdrawn');
      const approved = await world.api.call('POST', `/api/consents/${message.consentId}/approve`, {
        as: person(),
        body: { scope: 'message' },
      });
      assert.equal(errorCode(approved), 'conflict');
      const twice = await world.api.call('DELETE', `/api/mailbox/outbox/${message.id}`, {
        as: mailbox().token,
      });
      assert.deepEqual([twice.status, errorCode(twice)], [409, 'conflict']);
    });
  });

describe('a message made from a draft', () => {
  async function draftOf(body: object): Promise<string> {
    const answer = await world.api.call('POST', '/api/mailbox/drafts', { as: mailbox().token, body });
    assert.equal(answer.status, 201, answer.text);
    return textAt(answer.body, 'id');
  }
  const draft = (id: string) => world.api.call('GET', `/api/mailbox/drafts/${id}`, { as: mailbox().token });
  const send = (id: string, body: object = {}) =>
    world.api.call('POST', `/api/mailbox/drafts/${id}/send`, { as: mailbox().token, body });

  test('is restored when it is withdrawn while held: id, text, attachment, Bcc; and can be sent again', async () => {
    const [to, bcc] = [stranger(), stranger()];
    const id = await draftOf({
      to: [to],
      bcc: [bcc],
      subject: 'From a draft',
      text: 'Words of the draft',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', contentBase64: 'aGVsbG8=' }],
      labels: ['order'],
      clientId: `mine-${++number}`,
    });
    const sent = await send(id);
    assert.equal(sent.status, 202, sent.text);
    const messageId = textAt(sent.body, 'id');
    assert.equal((await draft(id)).status, 404);
    assert.equal(at(await entry(messageId), 'draftId'), id);
    const withdrawn = await withdraw(messageId);
    assert.deepEqual(withdrawn.body, { id: messageId, draftId: id });
    const back = await draft(id);
    assert.deepEqual(
      [at(back.body, 'to'), at(back.body, 'bcc'), at(back.body, 'subject'), textAt(back.body, 'text').trim()],
      [[to], [bcc], 'From a draft', 'Words of the draft'],
    );
    assert.equal(at(back.body, 'attachments', 0, 'filename'), 'a.txt');
    assert.deepEqual(at(back.body, 'labels'), ['order']);
    const again = await send(id);
    assert.equal(again.status, 202, again.text);
    assert.notEqual(textAt(again.body, 'id'), messageId);
    await withdraw(textAt(again.body, 'id'));
  });

  test('is restored by DELETE of the message too, and while it is scheduled', async () => {
    const colleague = await world.api.newMailbox(organization);
    const id = await draftOf({ to: [colleague.address], subject: 'Later', text: 'x' });
    const sent = await send(id, { sendAt: new Date(Date.now() + 3_600_000).toISOString() });
    assert.equal(sent.status, 201, sent.text);
    const messageId = textAt(sent.body, 'id');
    assert.equal(at(await entry(messageId), 'state'), 'scheduled');
    const deleted = await world.api.call('DELETE', `/api/mailbox/messages/${messageId}`, { as: mailbox().token });
    assert.equal(deleted.status, 204);
    assert.equal((await draft(id)).status, 200);
    assert.equal(at(await entry(messageId), 'state'), 'withdrawn');
  });

  test('is restored while it is queued: its copy in Sent is removed, and nothing is sent later', async () => {
    await settings({ outboundConsent: 'off' });
    const to = stranger();
    const subject = `Queued ${++number}`;
    const id = await draftOf({ to: [to], subject, text: 'x' });
    world.peer.faults = [{ at: 'rcpt', reply: 451, for: to, words: 'later', times: 1 }];
    const sent = await send(id);
    assert.equal(sent.status, 201, sent.text);
    const messageId = textAt(sent.body, 'id');
    await waitUntil('the attempt to be put off', async () => world.peer.faults.every(({ times }) => times === 0));
    await waitUntil('it to be queued again', async () => at(await entry(messageId), 'state') === 'queued');
    assert.equal((await world.folder(mailbox(), 'Sent'))[0], subject);
    const withdrawn = await withdraw(messageId);
    assert.deepEqual(withdrawn.body, { id: messageId, draftId: id });
    assert.notEqual((await world.folder(mailbox(), 'Sent'))[0], subject);
    assert.equal((await draft(id)).status, 200);
    assert.deepEqual(
      [at(await entry(messageId), 'state'), await world.status(mailbox(), messageId)],
      ['withdrawn', 'denied'],
    );
    await world.api.sql(`update outbound_recipient set next_attempt_at = now() where message_id = $1`, [messageId]);
    assert.equal(world.peer.received.filter((mail) => mail.to.includes(to)).length, 0);

    const over = await world.send('REST', mailbox(), { to: [stranger()] });
    await world.reaches(mailbox(), over.id, 'sent');
    const late = await world.api.call('DELETE', `/api/mailbox/outbox/${over.id}`, { as: mailbox().token });
    assert.deepEqual([late.status, errorCode(late)], [409, 'conflict'], 'what was sent cannot be withdrawn');
    await settings({ outboundConsent: 'first_contact' });
  });

  test('stays withdrawn without its draft where the mailbox is full by now', async () => {
    const own = await world.api.newMailbox(organization);
    const made = await world.api.call('POST', '/api/mailbox/drafts', {
      as: own.token,
      body: { to: [stranger()], subject: 'Full', text: 'x' },
    });
    const id = textAt(made.body, 'id');
    const sent = await world.api.call('POST', `/api/mailbox/drafts/${id}/send`, { as: own.token, body: {} });
    await world.api.sql(`update mailbox_counter set quota_bytes = bytes_used where mailbox_id = $1`, [own.id]);
    const path = `/api/mailbox/outbox/${textAt(sent.body, 'id')}`;
    const answer = await world.api.call('DELETE', path, { as: own.token });
    assert.deepEqual([answer.status, at(answer.body, 'draftId')], [200, null], answer.text);
  });
});

test('waiting for a decision about the mail of another mailbox is refused', async () => {
  const held = await world.send('REST', mailbox(), { to: [stranger()] });
  const another = await world.api.newMailbox(organization);
  for (const as of [another.token, world.api.other.mailbox.token]) {
    const answer = await world.api.call('GET', `/api/mailbox/messages/wait?consentId=${held.consentId}`, { as });
    assert.deepEqual([answer.status, errorCode(answer)], [400, 'invalid_request'], answer.text);
  }
});

test('the mail store is sound after all of it', async () => {
  const rules = await checkMailStore(world.api.services.db, { all: true });
  assert.deepEqual(
    rules.filter(({ atFault }) => atFault > 0),
    [],
  );
});
