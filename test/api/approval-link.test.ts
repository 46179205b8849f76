/** The link of a notice shows one request to one member, decides it by a POST, and dies with everything around it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { APPROVAL_LINK_REQUESTS_PER_MINUTE } from '#domain/sending/approval-notices.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  type Credential,
  errorCode,
  TEST_PASSWORD,
  textAt,
} from '#test/support/api-world.ts';
import { approvalLink, type HeldMessage, holdMessage } from './approval-link-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

let sources = 0;
/** From a source of its own, as use is limited by source. */
const use = (as: Credential, method = 'GET', rest = '', body?: object): Promise<Answer> =>
  world.call(method, `/api/approval${rest}`, {
    as,
    ...(body === undefined ? {} : { body }),
    headers: { 'x-forwarded-for': `203.0.113.${++sources % 250}` },
  });

async function linked(body: object = {}): Promise<HeldMessage & { link: Credential }> {
  const held = await holdMessage(world, world.organization, body);
  return { ...held, link: await approvalLink(world, world.organization, held) };
}

const stateOf = async (consentId: string) =>
  textAt((await world.call('GET', `/api/consents/${consentId}`, { as: world.organization.key })).body, 'status');

/** @param own what its member has decided: that may be sent again */
async function assertDead(link: Credential, why: string, own?: '/approve' | '/deny', says?: RegExp): Promise<void> {
  for (const [method, rest, body] of [
    ['GET', ''],
    ['GET', '/raw'],
    ['GET', '/attachments/1'],
    ['POST', '/approve', { scope: 'message' }],
    ['POST', '/deny', {}],
  ] as const) {
    if (rest === own) continue;
    const answer = await use(link, method, rest, body);
    if (says !== undefined) assert.match(textAt(answer.body, 'error', 'message'), says, `${why}: ${method} ${rest}`);
    assert.deepEqual([answer.status, errorCode(answer)], [401, 'unauthenticated'], `${why}: ${method} ${rest}`);
  }
}

describe('a link', () => {
  test('shows the whole message and its attachments, and who would decide', async () => {
    const content = Buffer.from('%PDF-1.7 the offer').toString('base64');
    const { link, consentId } = await linked({
      subject: 'Our offer',
      text: 'Dear Ada,\nthe offer is attached.',
      attachments: [{ filename: 'offer.pdf', contentType: 'application/pdf', contentBase64: content }],
    });
    const { body, status, text } = await use(link);
    assert.equal(status, 200, text);
    assert.deepEqual(at(body, 'member'), { name: 'A member', email: world.organization.member.email });
    assert.deepEqual(
      [at(body, 'message', 'consent', 'id'), at(body, 'message', 'subject'), at(body, 'message', 'hashMatches')],
      [consentId, 'Our offer', true],
    );
    const aid = textAt(body, 'message', 'attachments', 0, 'id');
    const attachment = await use(link, 'GET', `/attachments/${aid}`);
    assert.deepEqual([attachment.status, attachment.text], [200, '%PDF-1.7 the offer']);
    assert.match(attachment.headers.get('content-disposition') ?? '', /^attachment/);
    assert.match((await use(link, 'GET', '/raw')).text, /^Subject: Our offer/m);
  });

  test('decides nothing when it is only opened, however often and by which method', async () => {
    const { link, consentId } = await linked();
    for (const rest of ['', '/approve', '/deny'])
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        await fetch(new URL(`/api/approval${rest}`, world.api.url), { method, headers: link });
    assert.equal(await stateOf(consentId), 'pending');
  });

  test('approves once, under the name of its member, and is dead from then on', async () => {
    const { link, consentId } = await linked();
    const approved = await use(link, 'POST', '/approve', { scope: 'message' });
    assert.deepEqual([approved.status, at(approved.body, 'status')], [200, 'approved']);
    assert.equal(at(approved.body, 'decision', 'decidedBy', 'email'), world.organization.member.email);
    await assertDead(link, 'after its use', '/approve', /^The link was used: the message was approved\.$/);
    const again = await use(link, 'POST', '/approve', { scope: 'message' });
    assert.deepEqual([again.status, again.text], [200, approved.text], 'the answer may have been lost');
    const [other] = [await use(link, 'POST', '/approve', { scope: 'domain' })];
    assert.deepEqual([other.status, errorCode(other)], [401, 'unauthenticated'], 'another decision');
    const events = await world.sql(
      `select 1 from events where type = 'outbound_consent_approved' and payload like $1`,
      [`%${consentId}%`],
    );
    assert.equal(events.length, 1);
    const audit = await world.call('GET', `/api/audit?targetId=${consentId}`, { as: world.organization.key });
    assert.deepEqual(
      [
        at(audit.body, 'data', 0, 'action'),
        at(audit.body, 'data', 0, 'actor', 'id'),
        at(audit.body, 'data', 0, 'details', 'via'),
      ],
      ['consent.approved', world.organization.member.userId, 'approval_link'],
    );
  });

  test('approves with changes, of which the hash is that of the changed message', async () => {
    const { link, consentId } = await linked({ text: 'Dear customer, pay now.' });
    const edit = { subject: 'Linked, edited', text: 'Dear customer, thank you.' };
    const approved = await use(link, 'POST', '/approve', { scope: 'message', edit });
    assert.equal(approved.status, 200, approved.text);
    const shown = await world.call('GET', `/api/consents/${consentId}/message`, {
      as: world.organization.owner.session,
    });
    assert.deepEqual(
      [at(shown.body, 'subject'), textAt(shown.body, 'text').trim(), at(shown.body, 'hashMatches')],
      [edit.subject, edit.text, true],
    );
  });

  test('denies', async () => {
    const { link, consentId } = await linked();
    const denied = await use(link, 'POST', '/deny', { reason: 'No' });
    assert.deepEqual([denied.status, at(denied.body, 'decision', 'reason')], [200, 'No']);
    assert.equal(await stateOf(consentId), 'denied');
    await assertDead(link, 'after its use', '/deny', /^The link was used: the message was denied\.$/);
    const again = await use(link, 'POST', '/deny', { reason: 'No' });
    assert.deepEqual([again.status, again.text], [200, denied.text], 'the answer may have been lost');
    await world.sql(`update approval_links set expires_at = now() - interval '1 second' where consent_id = $1`, [
      consentId,
    ]);
    await assertDead(link, 'after its time', undefined, /^The link was used/);
  });

  test('is of one member: two for the same request, of which one decides', async () => {
    const { link, ...held } = await linked();
    const another = await approvalLink(world, world.organization, held, world.organization.owner.memberId);
    const [one, two] = await Promise.all([
      use(link, 'POST', '/approve', { scope: 'message' }),
      use(another, 'POST', '/deny', {}),
    ]);
    const won = [one, two].filter(({ status }) => status === 200);
    const lost = [one, two].filter(({ status }) => status === 401 || status === 409);
    assert.deepEqual([won.length, lost.length], [1, 1], `${one.text} ${two.text}`);
    const [winner, loser] = one.status === 200 ? [link, another] : [another, link];
    const verb = one.status === 200 ? 'approved' : 'denied';
    await assertDead(winner, 'decided', one.status === 200 ? '/approve' : '/deny', /^The link was used/);
    await assertDead(loser, 'decided', undefined, new RegExp(`^Somebody else has ${verb} the message already`));
  });

  test('is stored as a hash alone', async () => {
    const { link } = await linked();
    const token = String(link['authorization']).slice('Bearer '.length);
    for (const row of await world.sql(`select * from approval_links`)) assert.ok(!JSON.stringify(row).includes(token));
  });

  test('does not come from a typing error, another prefix or a guess', async () => {
    const { link } = await linked();
    const token = String(link['authorization']).slice('Bearer '.length);
    for (const wrong of [
      `${token.slice(0, -1)}u`,
      token.replace('aml_', 'ams_'),
      newCredential('approvalLink'),
      `${token}x`,
    ])
      assert.equal((await use(asBearer(wrong))).status, 401, wrong);
    const inQuery = await world.call('GET', `/api/approval?token=${token}`, {
      headers: { 'x-forwarded-for': '203.0.113.251' },
    });
    assert.equal(inQuery.status, 401, 'a token in the address of a request would be in logs');
  });

  test('is used from one address sixty times a minute at most', async () => {
    const { link } = await linked();
    const headers = { 'x-forwarded-for': '203.0.113.252' };
    const statuses = new Map<number, number>();
    for (let i = 0; i < APPROVAL_LINK_REQUESTS_PER_MINUTE + 5; i++) {
      const { status } = await world.call('GET', '/api/approval', { as: link, headers });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.deepEqual([statuses.get(200), statuses.get(429)], [APPROVAL_LINK_REQUESTS_PER_MINUTE, 5]);
    assert.equal((await use(link)).status, 200, 'others are not kept out');
  });

  test('works while agents use up the rate of the organization', async () => {
    const of = await world.newOrganization('free');
    const link = await approvalLink(world, of, await holdMessage(world, of));
    await world.sql(
      `insert into rate_limits (key, used, resets_at_ms) values ($1, 1000000, $2)
       on conflict (key) do update set used = excluded.used, resets_at_ms = excluded.resets_at_ms`,
      [`api:${of.id}`, Date.now() + 3_600_000],
    );
    assert.equal((await world.call('GET', '/api/organization', { as: of.key })).status, 429);
    assert.equal((await use(link)).status, 200);
  });
});

/** The error text of a link that ended in this way. All others have the same text, which does not give the reason. */
const REASONS: Readonly<Record<string, RegExp>> = {
  'with the decision of another': /^Somebody else has denied the message already\.$/,
  'with the request': /^The link has expired\.$/,
  'after its own time': /^The link has expired\.$/,
  'with the message being taken back': /^The sender took the message back/,
};
const WITHOUT_REASON =
  /^The approval link is not valid: it is unknown, or ended with a change of role, password or membership\.$/;

describe('a link dies', () => {
  const cases: Readonly<Record<string, (held: HeldMessage) => Promise<unknown>>> = {
    'with the decision of another': ({ consentId }) =>
      world.call('POST', `/api/consents/${consentId}/deny`, { as: world.organization.owner.session, body: {} }),
    'with the request': ({ consentId }) =>
      world.sql(`update consent set expires_at = now() - interval '1 second' where id = $1`, [consentId]),
    'after its own time': () => world.sql(`update approval_links set expires_at = now() - interval '1 second'`),
    'with another role, even when it is given back': async () => {
      for (const role of ['admin', 'member'])
        await world.call('PATCH', `/api/members/${world.organization.member.memberId}`, {
          as: world.organization.owner.session,
          body: { role },
        });
    },
    'with another password': () =>
      world.call('PUT', '/api/sessions/current/password', {
        as: world.organization.member.session,
        body: { currentPassword: TEST_PASSWORD, newPassword: `${TEST_PASSWORD} 2` },
      }),
    'with the message being taken back': ({ id }) =>
      world.call('DELETE', `/api/mailbox/messages/${id}`, { as: world.organization.mailbox.token }),
    // The last, as the member does not come back.
    'with the membership': () =>
      world.call('DELETE', `/api/members/${world.organization.member.memberId}`, {
        as: world.organization.owner.session,
      }),
  };
  for (const [when, happen] of Object.entries(cases))
    test(when, async () => {
      const { link, ...held } = await linked();
      assert.equal((await use(link)).status, 200);
      const answer = await happen(held);
      const { status } = Object(answer) as { status?: number };
      assert.ok(status === undefined || (status >= 200 && status < 300), `${when}: ${status}`);
      await assertDead(link, when, undefined, REASONS[when] ?? WITHOUT_REASON);
    });
});
