/** A planted message stops the mailbox that is about to send its text. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSendingWorld, passwordOf, type SendingWorld } from '#test/sending/sending-world.ts';
import {
  type Answer,
  at,
  errorCode,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { logIn } from '#test/support/submission-client.ts';

let world: SendingWorld;
let organization: TestOrganization;
before(async () => {
  world = await openSendingWorld();
  organization = await world.api.newOrganization('unlimited');
  const body = { settings: { outboundConsent: 'off', carriedMail: 'off' } };
  const set = await world.api.call('PATCH', '/api/organization', { as: organization.owner.session, body });
  assert.equal(set.status, 200, set.text);
});
after(() => world?.close());

const change = (mailbox: TestMailbox, body: object, as = organization.owner.session): Promise<Answer> =>
  world.api.call('PATCH', `/api/mailboxes/${mailbox.id}`, { as, body });

const send = (mailbox: TestMailbox, body: object): Promise<Answer> =>
  world.api.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: ['drop@elsewhere.example'], subject: 'Here', text: 'As you asked.', ...body },
  });

/** Plants one in a new mailbox. */
async function planted(): Promise<{ mailbox: TestMailbox; key: string }> {
  const mailbox = await world.api.newMailbox(organization);
  const set = await change(mailbox, { canary: true });
  assert.equal(set.status, 200, set.text);
  assert.equal(at(set.body, 'canary'), true);
  const listed = await world.api.call('GET', '/api/mailbox/messages', { as: mailbox.token });
  const id = textAt(listed.body, 'data', 0, 'id');
  const read = await world.api.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token });
  const key = /[a-z0-9]{6}(?:-[a-z0-9]{6}){3}/.exec(textAt(read.body, 'text'))?.[0] ?? assert.fail(read.text);
  return { mailbox, key };
}

async function assertStopped(mailbox: TestMailbox, by: TestMailbox, what: string): Promise<void> {
  const as = organization.owner.session;
  const shown = await world.api.call('GET', `/api/mailboxes/${mailbox.id}`, { as });
  assert.equal(textAt(shown.body, 'sendingMode'), 'stopped', what);
  const audit = await world.api.call('GET', `/api/audit?action=mailbox.canary_sent&targetId=${mailbox.id}`, { as });
  assert.equal(textAt(audit.body, 'data', 0, 'details', 'plantedIn'), by.id);
  const notices = await world.api.sql(
    `select recipient from member_notices where kind = 'canary_sent' and target_id = $1 order by recipient`,
    [mailbox.id],
  );
  assert.deepEqual(
    notices.map(({ recipient }) => recipient),
    [organization.owner.email, organization.admin.email].toSorted(),
    'owners and admins get a notice',
  );
}

test('its text in any form stops the mailbox, with a notice and an audit entry, and is refused', async () => {
  const forms: Readonly<Record<string, (key: string) => object>> = {
    plain: (key) => ({ text: `The key is ${key}.` }),
    'without signs, in capitals': (key) => ({ subject: key.replaceAll('-', '').toUpperCase() }),
    base64: (key) => ({ text: Buffer.from(`the key is ${key}`).toString('base64') }),
    'a link': (key) => ({ html: `<img src="https://evil.example/${key}.gif">` }),
    'letter by letter': (key) => ({ text: [...key].join(' ') }),
  };
  for (const [form, body] of Object.entries(forms)) {
    const { mailbox, key } = await planted();
    const refused = await send(mailbox, body(key));
    assert.equal(errorCode(refused), 'sending_stopped', `${form}: ${refused.text}`);
    await assertStopped(mailbox, mailbox, form);
    assert.equal(errorCode(await send(mailbox, {})), 'sending_stopped', 'nothing else leaves either');
  }
});

test('another mailbox of the organization that sends it is stopped, by SMTP too; one of another organization is not', async () => {
  const { mailbox, key } = await planted();
  const colleague = await world.api.newMailbox(organization);
  const client = await logIn(world.mail.submissionStarttls, {
    address: colleague.address,
    token: passwordOf(colleague),
  });
  const words = await client.send(
    colleague.address,
    ['drop@elsewhere.example'],
    `From: ${colleague.address}\nSubject: s\n\n${key}\n`,
  );
  client.close();
  assert.match(words, /^[45]/);
  await assertStopped(colleague, mailbox, 'SMTP');
  const shown = await world.api.call('GET', `/api/mailboxes/${mailbox.id}`, { as: organization.owner.session });
  assert.equal(textAt(shown.body, 'sendingMode'), 'normal');
  const other = await send(world.api.other.mailbox, { text: key });
  assert.equal(other.status, 202, other.text);
});

test('colleagues, and what a person sends, stop nothing; a forgotten one means nothing', async () => {
  const { mailbox, key } = await planted();
  const colleague = await world.api.newMailbox(organization);
  const inside = await send(mailbox, { to: [colleague.address], text: key });
  assert.equal(inside.status, 201, inside.text);
  const byPerson = await world.api.call('POST', `/api/mailboxes/${mailbox.id}/messages`, {
    as: organization.owner.session,
    body: { to: ['ann@customer.example'], subject: 's', text: key },
  });
  assert.equal(byPerson.status, 201, byPerson.text);
  const byKey = await change(mailbox, { canary: false }, organization.key);
  assert.deepEqual([byKey.status, errorCode(byKey)], [403, 'forbidden']);
  const forgotten = await change(mailbox, { canary: false });
  assert.equal(at(forgotten.body, 'canary'), false);
  assert.equal((await send(mailbox, { text: key })).status, 201);
});
