/** Further addresses of a mailbox: who may make them, which mail reaches them, and mail that is sent as them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  type Answer,
  at,
  type Credential,
  errorCode,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { openSendingWorld, passwordOf, type SendingWorld } from './sending-world.ts';

let world: SendingWorld;
let organization: TestOrganization;
let box: TestMailbox;
let number = 0;
before(async () => {
  const lookup = dnsStub({
    '_dmarc.shop.example': 'v=DMARC1; p=none',
    'shop.example': 'v=spf1 ip4:127.0.0.1 -all',
    'mail.shop.example': 'v=spf1 ip4:127.0.0.1 -all',
    'other.example': 'v=spf1 ip4:127.0.0.1 -all',
  });
  world = await openSendingWorld({ mail: { lookup } });
  organization = world.api.organization;
});
after(() => world?.close());
beforeEach(async () => {
  box = await world.api.newMailbox(organization);
});

const aliases = `/api/mailbox/aliases`;
const create = (body: object, as: Credential = box.token): Promise<Answer> =>
  world.api.call('POST', aliases, { as, body });
const createByKey = (body: object): Promise<Answer> =>
  world.api.call('POST', `/api/mailboxes/${box.id}/aliases`, { as: organization.key, body });

async function made(answer: Promise<Answer>): Promise<{ id: string; address: string }> {
  const { status, body, text } = await answer;
  assert.equal(status, 201, text);
  return { id: textAt(body, 'id'), address: textAt(body, 'address') };
}
const change = async (id: string, body: object): Promise<void> => {
  const answer = await world.api.call('PATCH', `/api/mailboxes/${box.id}/aliases/${id}`, {
    as: organization.key,
    body,
  });
  assert.equal(answer.status, 200, answer.text);
};
const drop = (id: string, as: Credential = box.token): Promise<Answer> =>
  world.api.call('DELETE', `${aliases}/${id}`, { as });

async function arrive(to: string | readonly string[], from = 'ann@shop.example', subject = 'Hello'): Promise<string> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const list = typeof to === 'string' ? [to] : to;
  try {
    return await client.send(
      from,
      list,
      `From: ${from}\nTo: ${list.join(', ')}\nSubject: ${subject}\nMessage-ID: <${++number}@shop.example>\n\nSome words.\n`,
    );
  } finally {
    client.close();
  }
}
const inbox = (mailbox = box) => world.folder(mailbox, 'INBOX');
const domain = () => box.address.slice(box.address.indexOf('@') + 1);

async function newest(mailbox = box): Promise<{ id: string; deliveredTo: string }> {
  const list = await world.api.call('GET', '/api/mailbox/messages?limit=1', { as: mailbox.token });
  const id = textAt(list.body, 'data', 0, 'id');
  const one = await world.api.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token });
  return { id, deliveredTo: textAt(one.body, 'deliveredTo') };
}

/** A verified domain of the organization. */
async function ownDomain(name: string): Promise<string> {
  const answer = await world.api.call('POST', '/api/domains', { as: organization.key, body: { name } });
  assert.equal(answer.status, 201, answer.text);
  await world.api.sql(`update domains set status = 'verified', verified_at = now() where name = $1`, [name]);
  return textAt(answer.body, 'id');
}

describe('making and dropping', () => {
  test('an agent makes a random address, gets mail at it, finds it by it, and drops it: 550 from then on', async () => {
    const alias = await made(create({ note: 'for shop.example' }));
    assert.match(alias.address, /^[a-z2-9]{16}@/);
    assert.match(await arrive(alias.address.toUpperCase()), /^250/);
    assert.match(await arrive(box.address, 'ann@shop.example', 'Direct'), /^250/);
    const found = await world.api.call('GET', `/api/mailbox/messages?to=${alias.address}`, { as: box.token });
    assert.deepEqual(
      Object.values(Object(at(found.body, 'data'))).map((each) => at(each, 'subject')),
      ['Hello'],
    );
    const [event] = await world.events('email_received', textAt(found.body, 'data', 0, 'id'));
    assert.equal(event?.['deliveredTo'], alias.address.toUpperCase());
    assert.equal((await drop(alias.id)).status, 204);
    assert.match(await arrive(alias.address), /^550 5\.1\.1/);
  });

  test('an address is that of one mailbox or alias only, also a while after it was dropped', async () => {
    const local = `shared-${box.id.slice(-8)}`;
    const alias = await made(createByKey({ localPart: local }));
    const other = await world.api.newOrganization('business');
    const elsewhere = (path: string) =>
      world.api.call('POST', path, { as: other.key, body: { localPart: local.toUpperCase() } });
    for (const round of ['in use', 'dropped']) {
      assert.equal(errorCode(await elsewhere('/api/mailboxes')), 'conflict', round);
      assert.equal(errorCode(await elsewhere(`/api/mailboxes/${other.mailbox.id}/aliases`)), 'conflict', round);
      assert.equal(errorCode(await createByKey({ localPart: box.address.split('@')[0] })), 'conflict', round);
      await world.api.call('DELETE', `/api/mailboxes/${box.id}/aliases/${alias.id}`, { as: organization.key });
    }
    assert.equal(
      (await made(createByKey({ localPart: local }))).address,
      alias.address,
      'its own mailbox may have it again',
    );
  });

  test('of concurrent creations of a mailbox and an alias with one address, one wins', async () => {
    const locals = Array.from({ length: 8 }, (_, i) => `race-${i}-${box.id.slice(-8)}`);
    await Promise.all(
      locals.map(async (localPart) => {
        const [mailbox, alias] = await Promise.all([
          world.api.call('POST', '/api/mailboxes', { as: organization.key, body: { localPart } }),
          createByKey({ localPart }),
        ]);
        assert.deepEqual(
          [mailbox.status, alias.status].toSorted((a, b) => a - b),
          [201, 409],
          `${mailbox.text} ${alias.text}`,
        );
      }),
    );
  });

  test('a token makes no address that looks official; a person or key does, but not a reserved one', async () => {
    for (const localPart of [
      'billing',
      'b1lling',
      'security-team',
      'pay.ments',
      'support2',
      'help_desk',
      'postmaster',
      'bíll',
      'bi1l1ng',
      'billingdept',
      'c0mpliance2team',
    ])
      assert.equal(errorCode(await create({ localPart })), 'invalid_local_part', localPart);
    const person = organization.owner.email.split('@')[0];
    await world.api.sql(`update users set email = $1 where email = $2`, [
      `${person}@${domain()}`,
      organization.owner.email,
    ]);
    for (const answer of [create({ localPart: person }), createByKey({ localPart: person })])
      assert.equal(errorCode(await answer), 'conflict', 'mail about the account of a member would go there');
    await world.api.sql(`update users set email = $2 where email = $1`, [
      `${person}@${domain()}`,
      organization.owner.email,
    ]);
    assert.equal((await createByKey({ localPart: `billing` })).status, 201);
    assert.equal(errorCode(await createByKey({ localPart: 'security' })), 'invalid_local_part');
    assert.equal((await create({ localPart: `shop-${box.id.slice(-8)}` })).status, 201);
  });

  test('tokens make as many as the organization lets them, and change only what a token made', async () => {
    const owner = organization.owner.session;
    const limit = async (aliasesByToken: number) => {
      const answer = await world.api.call('PATCH', '/api/organization', {
        as: owner,
        body: { settings: { aliasesByToken } },
      });
      assert.equal(answer.status, 200, answer.text);
    };
    const byPerson = await made(createByKey({}));
    assert.equal(errorCode(await drop(byPerson.id)), 'forbidden');
    await limit(1);
    const own = await made(create({}));
    assert.equal(errorCode(await create({})), 'conflict');
    assert.equal((await drop(own.id)).status, 204);
    await limit(0);
    assert.equal(errorCode(await create({})), 'forbidden');
    await limit(10);
    const restricted = await made(create({ localPart: `mine-${box.id.slice(-8)}` }));
    await change(restricted.id, { senders: ['shop.example'] });
    const undo = await world.api.call('PATCH', `${aliases}/${restricted.id}`, { as: box.token, body: { senders: [] } });
    assert.equal(errorCode(undo), 'forbidden', 'what a person decided binds the token');
    await world.api.call('DELETE', `/api/mailboxes/${box.id}/aliases/${restricted.id}`, { as: organization.key });
    assert.equal(errorCode(await create({ localPart: `mine-${box.id.slice(-8)}` })), 'conflict');
    const stranger = await world.api.newMailbox(organization);
    const again = await made(create({}));
    assert.equal(errorCode(await drop(again.id, stranger.token)), 'not_found');
  });

  test('disabled and expired ones are refused at once; with the mailbox they go', async () => {
    const alias = await made(createByKey({ expiresAt: '2099-01-01T00:00:00Z' }));
    assert.match(await arrive(alias.address), /^250/);
    await change(alias.id, { enabled: false });
    assert.match(await arrive(alias.address), /^550 5\.1\.1/, 'although it was found a moment ago');
    await change(alias.id, { enabled: true });
    await world.api.sql(`update mailbox_alias set expires_at = now() - interval '1 minute' where id = $1`, [alias.id]);
    assert.match(await arrive(alias.address), /^550 5\.1\.1/);
    const last = await made(createByKey({}));
    await world.api.call('DELETE', `/api/mailboxes/${box.id}`, { as: organization.key });
    assert.match(await arrive(last.address), /^550 5\.1\.1/);
  });

  test('it is no login', async () => {
    const alias = await made(create({}));
    await assert.rejects(
      logIn(world.mail.submissionStarttls, { address: alias.address, token: passwordOf(box) }),
      /535/,
    );
  });
});

describe('lists of senders', () => {
  test('mail of others, and mail that only claims to be of a listed sender, is refused', async () => {
    const { address } = await made(create({ senders: ['SHOP.example', 'Ann@other.example'] }));
    assert.match(await arrive(address, 'ann@shop.example', '1'), /^250/);
    assert.match(await arrive(address, 'bob@mail.shop.example', '2'), /^250/);
    assert.match(await arrive(address, 'ann@other.example', '3'), /^250/);
    assert.match(await arrive(address, 'eve@other.example'), /^550 5\.7\.1 /);
    assert.match(await arrive(address, 'ann@notshop.example'), /^550 5\.7\.1 /);
    await world.api.sql(`update mailbox_alias set senders = '{unproven.example}' where address = $1`, [address]);
    assert.match(await arrive(address, 'ann@unproven.example'), /^550 5\.7\.1 /);
    assert.deepEqual(await inbox(), ['3', '2', '1']);
  });

  test('such an address must be the only recipient, so that it can refuse for itself', async () => {
    const { address } = await made(create({ senders: ['shop.example'] }));
    const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<ann@shop.example>');
    assert.match(await client.command(`RCPT TO:<${box.address}>`), /^250/);
    assert.match(await client.command(`RCPT TO:<${address}>`), /^452 4\.5\.3/);
    await client.command('RSET');
    await client.command('MAIL FROM:<ann@shop.example>');
    assert.match(await client.command(`RCPT TO:<${address}>`), /^250/);
    assert.match(await client.command(`RCPT TO:<${box.address}>`), /^452 4\.5\.3/);
    assert.match(await client.command(`RCPT TO:<postmaster@${domain()}>`), /^452 4\.5\.3/);
    client.close();
  });

  test('mail of others can wait for a person instead, also after the alias was dropped', async () => {
    const alias = await made(create({ senders: ['shop.example'], otherwise: 'hold' }));
    assert.match(await arrive(alias.address, 'eve@other.example', 'Held'), /^250/);
    assert.deepEqual(await inbox(), []);
    const list = await world.api.call('GET', `/api/held-mail?mailboxId=${box.id}`, { as: organization.member.session });
    assert.deepEqual(at(list.body, 'data', 0, 'reasons'), ['unlisted_sender']);
    await drop(alias.id);
    const decided = await world.api.call('POST', `/api/held-mail/${textAt(list.body, 'data', 0, 'id')}/decide`, {
      as: organization.member.session,
      body: { decision: 'release' },
    });
    assert.equal(decided.status, 200, decided.text);
    assert.deepEqual([await inbox(), (await newest()).deliveredTo], [['Held'], alias.address]);
  });

  test('the first proven author locks it, and one of several at once; mail that is held locks nothing', async () => {
    const { address, id } = await made(create({ lockToFirst: true }));
    await world.api.sql(`update mailboxes set screening = 'first_senders' where id = $1`, [box.id]);
    assert.match(await arrive(address, 'bob@mail.shop.example', 'Held'), /^250/);
    await world.api.sql(`update mailboxes set screening = 'off' where id = $1`, [box.id]);
    assert.deepEqual(await world.api.sql(`select senders from mailbox_alias where id = $1`, [id]), [{ senders: [] }]);
    // The screening of a mailbox is remembered for five seconds.
    await waitUntil('the screening to be off', async () => {
      await arrive(address, 'x@unproven.example');
      return (await inbox()).length > 0;
    });
    assert.match(await arrive(address, 'x@unproven.example'), /^250/, 'locks nothing: anybody could have written it');
    const replies = await Promise.all(['ann@shop.example', 'eve@other.example'].map((from) => arrive(address, from)));
    assert.deepEqual(replies.map((reply) => reply.slice(0, 3)).toSorted(), ['250', '550']);
    const list = await world.api.call('GET', aliases, { as: box.token });
    const senders = at(list.body, 'data', 0, 'senders');
    assert.deepEqual(senders, [replies[0]?.startsWith('250') ? 'ann@shop.example' : 'eve@other.example']);
    const log = await world.api.sql(`select action from audit_entries where target_id = $1 order by id`, [id]);
    assert.deepEqual(
      log.map(({ action }) => action),
      ['alias.created', 'alias.locked'],
    );
  });

  test('they count for mail within the service too, whoever writes', async () => {
    const { address } = await made(create({ senders: ['shop.example'] }));
    const colleague = await world.api.newMailbox(organization);
    const sent = await world.send('REST', colleague, { to: [address] });
    await world.reaches(colleague, sent.id, 'bounced');
    assert.deepEqual(await inbox(), []);
    await world.api.sql(`update mailbox_alias set senders = $2 where address = $1`, [address, [colleague.address]]);
    await world.send('SMTP', colleague, { to: [address], subject: 'Listed' });
    await waitUntil('the mail', async () => (await inbox()).includes('Listed'));
  });
});

describe('tags and catch-all', () => {
  test('tags can be switched off; those with an alias work in any case, and into a folder', async () => {
    const [local = ''] = box.address.split('@');
    const tagged = (tag: string) => `${local}+${tag}@${domain()}`;
    assert.match(await arrive(tagged('any'), 'ann@shop.example', 'Any'), /^250/);
    await world.api.call('PATCH', `/api/mailboxes/${box.id}`, { as: organization.key, body: { plusAddresses: false } });
    assert.match(await arrive(tagged('other')), /^550 5\.1\.1/);
    const alias = await made(create({ tag: 'Shop', folder: 'Archive' }));
    assert.equal(alias.address, tagged('shop'));
    assert.match(await arrive(tagged('SHOP'), 'ann@shop.example', 'Filed'), /^250/);
    assert.deepEqual([await inbox(), await world.folder(box, 'Archive')], [['Any'], ['Filed']]);
    await world.api.call('PATCH', `/api/mailboxes/${box.id}`, { as: organization.key, body: { plusAddresses: true } });
    assert.equal((await drop(alias.id)).status, 204);
    assert.match(await arrive(tagged('shop')), /^550 5\.1\.1/, 'a dropped tag stays dropped');
  });

  test('a catch-all gets mail to unknown addresses only', async () => {
    const name = `d${box.id.slice(-8)}.example`;
    const id = await ownDomain(name);
    const unknown = `who@${name}`;
    assert.match(await arrive(unknown), /^550 5\.1\.1/);
    const set = (catchAllMailboxId: string | null) =>
      world.api.call('PATCH', `/api/domains/${id}`, { as: organization.key, body: { catchAllMailboxId } });
    const foreign = await world.api.newOrganization('business');
    assert.equal(errorCode(await set(foreign.mailbox.id)), 'invalid_request');
    assert.equal((await set(box.id)).status, 200);
    const colleague = await world.api.newMailbox(organization);
    const alias = await made(
      world.api.call('POST', `/api/mailboxes/${colleague.id}/aliases`, {
        as: organization.key,
        body: { domain: name, localPart: 'sub' },
      }),
    );
    assert.match(await arrive(unknown, 'ann@shop.example', 'Caught'), /^250/);
    assert.match(await arrive(alias.address, 'ann@shop.example', 'For the alias'), /^250/);
    assert.deepEqual([await inbox(), await inbox(colleague)], [['Caught'], ['For the alias']]);
    assert.equal((await newest()).deliveredTo, unknown);
    for (const reserved of ['hostmaster', 'Admin', 'security+cert'])
      assert.match(await arrive(`${reserved}@${name}`), /^550 5\.1\.1/, 'certificates are confirmed there');
    assert.equal(errorCode(await world.api.call('DELETE', `/api/domains/${id}`, { as: organization.key })), 'conflict');
    await world.api.call('DELETE', `/api/mailboxes/${colleague.id}/aliases/${alias.id}`, { as: organization.key });
    assert.match(await arrive(alias.address), /^550 5\.1\.1/, 'what was dropped does not come back this way');
    await world.api.call('DELETE', `/api/mailboxes/${box.id}`, { as: organization.key });
    assert.match(await arrive(unknown), /^550 5\.1\.1/);
  });
});

describe('sending', () => {
  test('a reply to mail that came to an alias leaves from it, signed by the domain of the alias', async () => {
    const name = `s${box.id.slice(-8)}.example`;
    await ownDomain(name);
    const alias = await made(createByKey({ domain: name, localPart: 'me' }));
    assert.match(await arrive(alias.address), /^250/);
    const { id } = await newest();
    const sent = await world.send('REST', box, { to: [], answers: { id, header: '' } });
    assert.equal(sent.kind, 'accepted', sent.words);
    const mail = await waitUntil('the reply', () =>
      world.peer.received.find(({ to }) => to.includes('ann@shop.example')),
    );
    const text = mail.bytes.toString('latin1');
    assert.match(text, new RegExp(`^From: .*me@${name}`, 'm'));
    assert.match(text, new RegExp(`DKIM-Signature: [^;]*;[^;]*;[^;]*; d=${name};`));
  });

  test('by REST, SMTP and draft the mailbox writes as its aliases in use, and as no others', async () => {
    const alias = await made(create({}));
    const foreign = await world.api.newMailbox(organization);
    const post = (from: string) =>
      world.api.call('POST', '/api/mailbox/messages', {
        as: box.token,
        body: { from, to: 'ann@shop.example', subject: 'As', text: 'x' },
      });
    const ok = await post(alias.address);
    assert.ok(ok.status === 201 || ok.status === 202, ok.text);
    assert.match(textAt(ok.body, 'from'), new RegExp(alias.address));
    assert.deepEqual(
      [errorCode(await post(foreign.address)), errorCode(await post('x@shop.example'))],
      ['invalid_request', 'invalid_request'],
    );
    const draft = await world.api.call('POST', '/api/mailbox/drafts', {
      as: box.token,
      body: { from: alias.address, to: 'ann@shop.example', subject: 'Draft', text: 'x' },
    });
    const kept = await world.api.call('PATCH', `/api/mailbox/drafts/${textAt(draft.body, 'id')}`, {
      as: box.token,
      body: { text: 'y' },
    });
    assert.match(textAt(kept.body, 'from'), new RegExp(alias.address), kept.text);
    const client = await logIn(world.mail.submissionStarttls, { address: box.address, token: passwordOf(box) });
    const submit = (from: string) =>
      client.send(from, ['ann@shop.example'], `From: ${from}\nTo: ann@shop.example\nSubject: s\n\nx\n`);
    assert.match(await submit(alias.address), /^250/);
    assert.match(await client.command(`MAIL FROM:<${foreign.address}>`), /^553/);
    assert.equal((await drop(alias.id)).status, 204);
    assert.match(await client.command(`MAIL FROM:<${alias.address}>`), /^553/);
    client.close();
    assert.equal(errorCode(await post(alias.address)), 'invalid_request');
  });

  test('to a colleague here it is proven, and mail to the own alias stays in the mailbox', async () => {
    const alias = await made(create({}));
    const colleague = await world.api.newMailbox(organization);
    const answer = await world.api.call('POST', '/api/mailbox/messages', {
      as: box.token,
      body: { from: alias.address, to: [colleague.address, alias.address], subject: 'Own', text: 'x' },
    });
    assert.equal(answer.status, 201, answer.text);
    await waitUntil('the mail', async () => (await inbox(colleague)).length + (await inbox()).length === 2);
    const [row] = await world.api.sql(
      `select auth -> 'dmarc' ->> 'result' as dmarc from message where mailbox_id = $1`,
      [colleague.id],
    );
    assert.equal(row?.['dmarc'], 'pass');
  });
});
