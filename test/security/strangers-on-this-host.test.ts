/** Other organizations on the same instance are strangers: mail reaches them with the decision of a person only. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { openSendingWorld, type SendingWorld } from '#test/sending/sending-world.ts';
import { at, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: SendingWorld;
let organization: TestOrganization;
let strangers: TestOrganization;
let agent: TestMailbox;
before(async () => {
  world = await openSendingWorld();
  organization = await world.api.newOrganization('unlimited');
  strangers = await world.api.newOrganization('unlimited');
  agent = organization.mailbox;
  await addDomain(organization, 'own.example');
  await addDomain(strangers, 'strangers.example');
});
after(() => world?.close());

async function addDomain({ id }: TestOrganization, name: string): Promise<void> {
  await world.api.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, $3, 'verified', 'x', 'x', 'x', 'x')`,
    [newId('domain'), id, name],
  );
}

const SOON_MS = 2_000;

/** @returns the id of a message that waits for its time */
async function schedule(to: string, sendAt: Date): Promise<string> {
  const answer = await world.api.call('POST', '/api/mailbox/messages', {
    as: agent.token,
    body: { to: [to], subject: 'Later', text: 'The offer.', sendAt: sendAt.toISOString() },
  });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(at(answer.body, 'status'), 'scheduled');
  return textAt(answer.body, 'id');
}

async function makeMailbox({ key }: TestOrganization, localPart: string, domain?: string): Promise<TestMailbox> {
  const answer = await world.api.call('POST', '/api/mailboxes', {
    as: key,
    body: { localPart, ...(domain === undefined ? {} : { domain }) },
  });
  assert.equal(answer.status, 201, answer.text);
  const { id, address } = { id: textAt(answer.body, 'id'), address: textAt(answer.body, 'address') };
  return { id, address, token: { authorization: `Bearer ${textAt(answer.body, 'token')}` } };
}

const domain = () => agent.address.slice(agent.address.indexOf('@') + 1);

for (const entry of ['REST', 'SMTP'] as const)
  test(`mail by ${entry} to the owners of another organization, by a role address, is held`, async () => {
    for (const to of ['postmaster@strangers.example', 'Abuse+x@strangers.example', `postmaster@${domain()}`]) {
      const answer = await world.send(entry, agent, { to: [to] });
      assert.equal(answer.kind, 'held', `${to}: ${answer.words}`);
    }
    const [taken] = await world.api.sql(`select count(*)::int as count from role_mail where organization_id = $1`, [
      strangers.id,
    ]);
    assert.equal(taken?.['count'], 0);
    const own = await world.send(entry, agent, { to: ['postmaster@own.example'] });
    assert.equal(own.kind, 'accepted', own.words);
  });

test('scheduled mail to an address that nobody has does not reach the stranger who takes it', async () => {
  for (const [localPart, at] of [
    ['taken-later', domain()],
    ['taken-later', 'strangers.example'],
  ] as const) {
    const id = await schedule(`${localPart}@${at}`, new Date(Date.now() + SOON_MS));
    const thief = await makeMailbox(strangers, localPart, at);
    await world.reaches(agent, id, 'bounced');
    assert.deepEqual(await world.folder(thief, 'INBOX'), []);
  }
});

test('scheduled mail to a colleague does not reach a stranger who takes the address meanwhile', async () => {
  const colleague = await makeMailbox(organization, 'colleague', 'own.example');
  const id = await schedule(colleague.address, new Date(Date.now() + SOON_MS));
  await world.api.sql(`update mailboxes set organization_id = $2 where id = $1`, [colleague.id, strangers.id]);
  await world.reaches(agent, id, 'bounced');
  assert.deepEqual(await world.folder(colleague, 'INBOX'), []);
});

test('scheduled mail reaches a colleague, also one whose mailbox is made later, and a stranger after an approval', async () => {
  const sendAt = new Date(Date.now() + SOON_MS);
  const id = await schedule(`made-later@${domain()}`, sendAt);
  const colleague = await makeMailbox(organization, 'made-later');
  await world.reaches(agent, id, 'sent');
  assert.deepEqual(await world.folder(colleague, 'INBOX'), ['Later']);
  const held = await world.send('REST', agent, { to: [strangers.mailbox.address, `nobody@${domain()}`] });
  assert.equal(held.kind, 'held');
  const taken = await makeMailbox(strangers, 'nobody');
  const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
    as: organization.member.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  await waitUntil('the approved mail', async () => (await world.folder(taken, 'INBOX')).length === 1);
  assert.deepEqual(await world.folder(strangers.mailbox, 'INBOX'), ['Hello']);
});

test('mail to an address that nobody has bounces at once', async () => {
  const { id, kind } = await world.send('REST', agent, { to: [`nobody-at-all@${domain()}`] });
  assert.equal(kind, 'accepted');
  await world.reaches(agent, id, 'bounced');
});
