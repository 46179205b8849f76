/** Errors of sign-in, invitations, passwords, members and organizations. */

import { startApi } from '#api/start.ts';
import { newId } from '#core/platform/new-id.ts';
import {
  LINK_TOKEN_TRIES_PER_MINUTE,
  PASSWORD_RESETS_PER_SOURCE_AND_HOUR,
  SIGN_IN_TRIES,
} from '#domain/access/credential-format.ts';
import { OAUTH_REQUESTS_PER_PERSON_AND_HOUR } from '#domain/access/oauth.ts';
import { OIDC_SIGN_INS_PER_SOURCE } from '#domain/access/oidc.ts';
import { PASSKEY_SIGN_INS_PER_SOURCE } from '#domain/access/passkeys.ts';
import {
  DEVICE_CODES_PER_PERSON_AND_HOUR,
  DEVICE_SIGN_INS_PER_SOURCE_AND_HOUR,
} from '#domain/access/sign-in-limits.ts';
import { OPEN_MOVES_MAX } from '#domain/mailbox-moves.ts';
import { TOKENS_PER_MAILBOX_MAX } from '#domain/organizations/mailboxes.ts';
import { API_KEYS_MAX } from '#domain/organizations/plans.ts';
import { type Answer, type ApiWorld, TEST_PASSWORD, type TestPerson, textAt } from '#test/support/api-world.ts';
import {
  addPasskey,
  authenticator,
  newPasskeyOptions,
  passkeyOptions,
  personWithPasskey,
} from '#test/support/authenticator.ts';
import { finish, useProvider } from '#test/support/oidc.ts';
import { openMoves } from '#test/support/open-moves.ts';
import { challengeOf, personWithTotp } from '#test/support/second-factor.ts';
import { from, type Reach, tryPasswords } from './reach.ts';

/** An invitation for a person who has an account already. */
async function invitedAccount(world: ApiWorld): Promise<string> {
  const person = await world.newPerson(world.other.id, 'member');
  const answer = await world.call('POST', '/api/members', {
    as: world.organization.owner.session,
    body: { email: person.email },
  });
  return textAt(answer.body, 'token');
}

const putChatUrl =
  (url: string): Reach =>
  ({ call, organization }) =>
    call('PUT', '/api/sessions/current/notices', {
      as: organization.owner.session,
      body: { approvals: 'at_once', chat: { form: 'slack', url } },
    });

/** A new person, because codes are counted for each. */
const unknownDevice =
  (step: 'look' | 'decide', more: object): Reach =>
  async (world) => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const body = { userCode: 'BBBB-BBBB', ...more };
    return world.call('POST', `/api/device-sign-ins/${step}`, { as: session, body });
  };

const tooManyDevices =
  (step: 'look' | 'decide', more: object): Reach =>
  async (world) => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const body = { userCode: 'BBBB-BBBB', ...more };
    return tryPasswords(DEVICE_CODES_PER_PERSON_AND_HOUR + 1, () =>
      world.call('POST', `/api/device-sign-ins/${step}`, { as: session, body }),
    );
  };

/** A wrong code for a person with an authenticator app, or without one. */
const wrongCode =
  (path: string, tries: number, source: string): Reach =>
  async (world) => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(tries, () =>
      world.call('POST', `/api/sessions/current/second-factor/${path}`, {
        as: session,
        body: { code: '000000' },
        headers: from(source),
      }),
    );
  };

const ownPassword =
  (password: string, tries: number, source: string): Reach =>
  async (world) => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(tries, () =>
      world.call('POST', '/api/sessions/current/second-factor/totp', {
        as: session,
        body: { password },
        headers: from(source),
      }),
    );
  };

/** At an address without a name, where browsers have no passkeys. */
const atNamelessAddress =
  (ask: (world: ApiWorld, url: string, person: TestPerson) => Promise<Answer>): Reach =>
  async (world) => {
    const { services, temporal, organization, api } = world;
    const person = await world.newPerson(organization.id, 'member');
    const settings = { ...services.settings, API_PUBLIC_URL: 'http://203.0.113.7' };
    const other = await startApi({ ...services, settings }, temporal);
    try {
      return await ask(world, other.url, person);
    } finally {
      await other.close();
      await world.sql(`update public_address set url = $1`, [api.url]);
    }
  };

const PASSKEYS = '/api/sessions/current/passkeys';

/** A wrong code, for the removal of a passkey. */
const removalByCode =
  (tries: number, source: string): Reach =>
  async (world) => {
    const { session, passkeyId } = await personWithPasskey(world);
    return tryPasswords(tries, () =>
      world.call('POST', `${PASSKEYS}/${passkeyId}/remove`, {
        as: session,
        body: { code: '000000' },
        headers: from(source),
      }),
    );
  };

const beginsPasskey =
  (password: string, tries: number, source: string): Reach =>
  async (world) => {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(tries, () =>
      world.call('POST', `${PASSKEYS}/begin`, { as: session, body: { password }, headers: from(source) }),
    );
  };

/** An answer of a passkey that the service does not know. */
async function unknownPasskey(world: ApiWorld): Promise<Record<string, unknown>> {
  return authenticator(world.api.url).assert(await passkeyOptions(world, 'sign-in'));
}

const passkeyCases: Readonly<Record<string, Reach>> = {
  'beginPasskeySignIn conflict': atNamelessAddress((world, url) =>
    world.call('POST', `${url}/api/sessions/passkey/begin`),
  ),
  'beginPasskeySignIn rate_limited': (world) =>
    tryPasswords(PASSKEY_SIGN_INS_PER_SOURCE + 1, () =>
      world.call('POST', '/api/sessions/passkey/begin', { headers: from('198.51.100.41') }),
    ),
  'signInByPasskey unauthenticated': async (world) =>
    world.call('POST', '/api/sessions/passkey', { body: { passkey: await unknownPasskey(world) } }),
  'signInByPasskey forbidden': async (world) =>
    world.call('POST', '/api/sessions/passkey', {
      headers: { origin: 'https://elsewhere.example' },
      body: { passkey: await unknownPasskey(world), cookie: true },
    }),
  'beginPasskeyStep unauthenticated': (world) =>
    world.call('POST', '/api/sessions/second-factor/passkey', { body: { challenge: 'unknown' } }),
  'beginPasskeyStep conflict': atNamelessAddress(async (world, url) => {
    const { email } = await personWithPasskey(world);
    const body = { challenge: await challengeOf(world, email) };
    return world.call('POST', `${url}/api/sessions/second-factor/passkey`, { body });
  }),
  'beginPasskey unauthenticated': beginsPasskey('not the password', 1, '198.51.100.42'),
  'beginPasskey rate_limited': beginsPasskey('not the password', SIGN_IN_TRIES + 1, '198.51.100.43'),
  'beginPasskey conflict': atNamelessAddress((world, url, { session }) =>
    world.call('POST', `${url}${PASSKEYS}/begin`, { as: session, body: { password: TEST_PASSWORD } }),
  ),
  async 'addPasskey unauthenticated'(world) {
    const person = await world.newPerson(world.organization.id, 'member');
    const options = await newPasskeyOptions(world, person);
    const passkey = authenticator(world.api.url).register(options, { origin: 'https://elsewhere.example' });
    return world.call('POST', PASSKEYS, { as: person.session, body: { name: 'x', passkey } });
  },
  async 'addPasskey conflict'(world) {
    const person = await personWithPasskey(world);
    const passkey = person.device.register(await newPasskeyOptions(world, person));
    return world.call('POST', PASSKEYS, { as: person.session, body: { name: 'x', passkey } });
  },
  'beginPasskeyConfirmation conflict': atNamelessAddress((world, url, { session }) =>
    world.call('POST', `${url}${PASSKEYS}/confirmation`, { as: session }),
  ),
  'removePasskey unauthenticated': removalByCode(1, '198.51.100.44'),
  'removePasskey rate_limited': removalByCode(SIGN_IN_TRIES + 1, '198.51.100.45'),
  async 'removePasskey not_found'(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const { passkeyId } = await personWithPasskey(world);
    return world.call('POST', `${PASSKEYS}/${passkeyId}/remove`, { as: session, body: { code: '000000' } });
  },
  async 'removePasskey conflict'(world) {
    const { id, owner } = await world.newOrganization('business');
    const { session, passkeyId, recoveryCodes } = await addPasskey(world, owner);
    await world.sql(`update organizations set settings = settings || '{"secondFactor":"approvers"}' where id = $1`, [
      id,
    ]);
    return world.call('POST', `${PASSKEYS}/${passkeyId}/remove`, { as: session, body: { code: recoveryCodes[0] } });
  },
};

const cookieElsewhere = { headers: { origin: 'https://elsewhere.example' } };
const withoutProvider =
  (ask: Reach): Reach =>
  async (world) => {
    Object.assign(world.services.settings, { OIDC_ISSUER: undefined });
    return ask(world);
  };
const withProvider =
  (ask: Reach, more: object = {}): Reach =>
  async (world) => {
    await useProvider(world, more);
    return ask(world);
  };
const beginsSingleSignOn: Reach = (world) => world.call('POST', '/api/sessions/oidc/begin');
const RETURN = { query: 'code=x&state=unknown', browserKey: 'unknown' };

const oidcCases: Readonly<Record<string, Reach>> = {
  'beginSingleSignOn not_found': withoutProvider(beginsSingleSignOn),
  'beginSingleSignOn unavailable': withProvider(beginsSingleSignOn, { OIDC_ISSUER: 'http://127.0.0.1:1' }),
  'beginSingleSignOn rate_limited': withProvider((world) =>
    tryPasswords(OIDC_SIGN_INS_PER_SOURCE + 1, () =>
      world.call('POST', '/api/sessions/oidc/begin', { headers: from('198.51.100.46') }),
    ),
  ),
  'finishSingleSignOn not_found': withoutProvider((world) =>
    world.call('POST', '/api/sessions/oidc', { body: RETURN }),
  ),
  'finishSingleSignOn unauthenticated': withProvider((world) =>
    world.call('POST', '/api/sessions/oidc', { body: RETURN }),
  ),
  'finishSingleSignOn forbidden': (world) =>
    world.call('POST', '/api/sessions/oidc', { ...cookieElsewhere, body: { ...RETURN, cookie: true } }),
  'linkSingleSignOn unauthenticated': (world) =>
    world.call('POST', '/api/sessions/oidc/link', { body: { link: 'unknown', password: 'x' } }),
  'linkSingleSignOn forbidden': (world) =>
    world.call('POST', '/api/sessions/oidc/link', {
      ...cookieElsewhere,
      body: { link: 'unknown', password: 'x', cookie: true },
    }),
  async 'linkSingleSignOn rate_limited'(world) {
    const { email, userId } = await world.newPerson(world.organization.id, 'member');
    (await useProvider(world)).signInAs({ subject: `of ${userId}`, email });
    const link = textAt((await finish(world)).body, 'link');
    return tryPasswords(SIGN_IN_TRIES + 1, () =>
      world.call('POST', '/api/sessions/oidc/link', {
        body: { link, password: 'not the password' },
        headers: from('198.51.100.47'),
      }),
    );
  },
  async 'deleteLinkedAccount not_found'(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return world.call('DELETE', `/api/sessions/current/oidc/${newId('oidcIdentity')}`, { as: session });
  },
};

export const accountCases: Readonly<Record<string, Reach>> = {
  ...passkeyCases,
  ...oidcCases,
  'createSession forbidden': (world) =>
    world.call('POST', '/api/sessions', {
      headers: { origin: 'https://elsewhere.example' },
      body: { email: world.organization.owner.email, password: TEST_PASSWORD, cookie: true },
    }),
  async 'acceptInvitation forbidden'(world) {
    const token = await world.newInvitation(world.organization, 'elsewhere@people.test');
    return world.call('POST', '/api/invitations/accept', {
      headers: { origin: 'https://elsewhere.example' },
      body: { token, name: 'Grace', password: TEST_PASSWORD, cookie: true },
    });
  },
  'createSession unauthenticated': (world) =>
    world.call('POST', '/api/sessions', {
      body: { email: world.organization.owner.email, password: 'not the password' },
      headers: from('198.51.100.1'),
    }),
  'createSession rate_limited': (world) =>
    tryPasswords(SIGN_IN_TRIES + 1, (number) =>
      world.call('POST', '/api/sessions', {
        body: { email: `nobody-${number}@people.test`, password: 'not the password' },
        headers: from('198.51.100.2'),
      }),
    ),
  'answerSecondFactor forbidden': (world) =>
    world.call('POST', '/api/sessions/second-factor', {
      headers: { origin: 'https://elsewhere.example' },
      body: { challenge: 'unknown', code: '000000', cookie: true },
    }),
  'answerSecondFactor unauthenticated': (world) =>
    world.call('POST', '/api/sessions/second-factor', { body: { challenge: 'unknown', code: '000000' } }),
  async 'answerSecondFactor rate_limited'(world) {
    const { email } = await personWithTotp(world);
    return tryPasswords(SIGN_IN_TRIES + 1, async () => {
      const body = { challenge: await challengeOf(world, email), code: '000000' };
      return world.call('POST', '/api/sessions/second-factor', { body, headers: from('198.51.100.30') });
    });
  },
  'beginTotp unauthenticated': ownPassword('not the password', 1, '198.51.100.31'),
  'beginTotp rate_limited': ownPassword('not the password', SIGN_IN_TRIES + 1, '198.51.100.32'),
  async 'beginTotp conflict'(world) {
    const { session } = await personWithTotp(world);
    const body = { password: TEST_PASSWORD };
    return world.call('POST', '/api/sessions/current/second-factor/totp', { as: session, body });
  },
  'confirmTotp unauthenticated': wrongCode('totp/confirm', 1, '198.51.100.33'),
  'confirmTotp rate_limited': wrongCode('totp/confirm', SIGN_IN_TRIES + 1, '198.51.100.34'),
  'removeTotp unauthenticated': wrongCode('totp/remove', 1, '198.51.100.35'),
  'removeTotp rate_limited': wrongCode('totp/remove', SIGN_IN_TRIES + 1, '198.51.100.36'),
  'renewRecoveryCodes unauthenticated': wrongCode('recovery-codes', 1, '198.51.100.37'),
  'renewRecoveryCodes rate_limited': wrongCode('recovery-codes', SIGN_IN_TRIES + 1, '198.51.100.38'),
  'resetMemberSecondFactor conflict': ({ call, organization }) =>
    call('POST', `/api/members/${organization.owner.memberId}/second-factor-reset`, {
      as: organization.owner.session,
    }),
  'lookAtInvitation not_found': (world) => world.call('POST', '/api/invitations/look', { body: { token: 'unknown' } }),
  'lookAtInvitation rate_limited': (world) =>
    tryPasswords(LINK_TOKEN_TRIES_PER_MINUTE + 1, () =>
      world.call('POST', '/api/invitations/look', { body: { token: 'unknown' }, headers: from('198.51.100.20') }),
    ),
  'requestPasswordReset rate_limited': (world) =>
    tryPasswords(PASSWORD_RESETS_PER_SOURCE_AND_HOUR + 1, (number) =>
      world.call('POST', '/api/password-resets', {
        body: { email: `nobody${number}@people.test` },
        headers: from('198.51.100.21'),
      }),
    ),
  'acceptPasswordReset not_found': (world) =>
    world.call('POST', '/api/password-resets/accept', { body: { token: 'unknown', password: TEST_PASSWORD } }),
  'acceptPasswordReset rate_limited': (world) =>
    tryPasswords(LINK_TOKEN_TRIES_PER_MINUTE + 1, () =>
      world.call('POST', '/api/password-resets/accept', {
        body: { token: 'unknown', password: TEST_PASSWORD },
        headers: from('198.51.100.22'),
      }),
    ),
  'beginDeviceSignIn rate_limited': (world) =>
    tryPasswords(DEVICE_SIGN_INS_PER_SOURCE_AND_HOUR + 1, () =>
      world.call('POST', '/api/device-sign-ins', { body: { name: 'x' }, headers: from('198.51.100.23') }),
    ),
  'takeDeviceSession rate_limited': (world) =>
    tryPasswords(LINK_TOKEN_TRIES_PER_MINUTE + 1, () =>
      world.call('POST', '/api/device-sign-ins/session', {
        body: { deviceCode: 'unknown' },
        headers: from('198.51.100.24'),
      }),
    ),
  'lookAtDeviceSignIn not_found': unknownDevice('look', {}),
  'lookAtDeviceSignIn rate_limited': tooManyDevices('look', {}),
  'decideDeviceSignIn not_found': unknownDevice('decide', { approve: true }),
  'decideDeviceSignIn rate_limited': tooManyDevices('decide', { approve: true }),
  async 'beginOAuthRequest rate_limited'(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(OAUTH_REQUESTS_PER_PERSON_AND_HOUR + 1, () =>
      world.call('POST', '/api/oauth/requests', { as: session, body: { query: 'x' } }),
    );
  },
  'resetMemberPassword conflict': ({ call, organization }) =>
    call('POST', `/api/members/${organization.owner.memberId}/password-reset`, { as: organization.owner.session }),
  'putNoticeSettings invalid_url': putChatUrl('http://127.0.0.1/hook'),
  'putNoticeSettings unresolvable_destination': putChatUrl('https://no-such-host.invalid/hook'),
  'putNoticeSettings unsafe_destination': putChatUrl('https://10.0.0.1/hook'),
  'testChatWebhook conflict': ({ call, organization }) =>
    call('POST', '/api/sessions/current/notices/test', { as: organization.owner.session }),
  'acceptInvitation not_found': (world) =>
    world.call('POST', '/api/invitations/accept', { body: { token: 'unknown', name: 'X', password: TEST_PASSWORD } }),
  'acceptInvitation unauthenticated': async (world) =>
    world.call('POST', '/api/invitations/accept', {
      body: { token: await invitedAccount(world), password: 'not the password' },
      headers: from('198.51.100.3'),
    }),
  async 'acceptInvitation rate_limited'(world) {
    const token = await invitedAccount(world);
    return tryPasswords(SIGN_IN_TRIES + 1, () =>
      world.call('POST', '/api/invitations/accept', {
        body: { token, password: 'not the password' },
        headers: from('198.51.100.4'),
      }),
    );
  },
  'changePassword unauthenticated': (world) =>
    world.call('PUT', '/api/sessions/current/password', {
      as: world.organization.member.session,
      body: { currentPassword: 'not the password', newPassword: TEST_PASSWORD },
      headers: from('198.51.100.5'),
    }),
  async 'changePassword rate_limited'(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(SIGN_IN_TRIES + 1, () =>
      world.call('PUT', '/api/sessions/current/password', {
        as: session,
        body: { currentPassword: 'not the password', newPassword: TEST_PASSWORD },
        headers: from('198.51.100.6'),
      }),
    );
  },
  'eraseContent not_found': (world) =>
    world.call('POST', '/api/operator/erasures', {
      as: world.operator,
      body: { kind: 'mailbox', subject: newId('mailbox'), yes: true },
    }),
  async 'eraseContent conflict'(world) {
    const { owner, mailbox } = await world.newOrganization('business');
    await world.call('POST', '/api/legal-holds', {
      as: owner.session,
      body: { mailboxId: mailbox.id, reason: 'Case' },
    });
    return world.call('POST', '/api/operator/erasures', {
      as: world.operator,
      body: { kind: 'mailbox', subject: mailbox.id, yes: true },
    });
  },
  'controlOperatorQueue not_found': (world) =>
    world.call('PUT', '/api/operator/queue', {
      as: world.operator,
      body: { action: 'hold', organization: 'nobody' },
    }),
  'exportMailbox not_found': (world) =>
    world.call('POST', '/api/operator/exports', { as: world.operator, body: { mailbox: newId('mailbox') } }),
  async 'exportMailbox conflict'(world) {
    const { id, mailbox } = await world.newOrganization('business');
    const others = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, OPEN_MOVES_MAX);
    const answer = await world.call('POST', '/api/operator/exports', {
      as: world.operator,
      body: { mailbox: world.organization.mailbox.id },
    });
    await world.sql(`delete from mailbox_move where id = any($1::text[])`, [others]);
    return answer;
  },
  'importMail not_found': (world) =>
    world.call('POST', '/api/operator/imports', { as: world.operator, body: { mailbox: newId('mailbox') } }),
  async 'importMail conflict'(world) {
    const { id, mailbox } = await world.newOrganization('business');
    const others = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, OPEN_MOVES_MAX);
    const answer = await world.call('POST', '/api/operator/imports', {
      as: world.operator,
      body: { mailbox: mailbox.id },
    });
    await world.sql(`delete from mailbox_move where id = any($1::text[])`, [others]);
    return answer;
  },
  async 'sendImport conflict'(world) {
    const { id, mailbox } = await world.newOrganization('business');
    const [move] = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, 1, 'finished');
    return world.call('PUT', `/api/operator/moves/${move}/content?at=0`, { as: world.operator, rawBody: 'x' });
  },
  async 'startMove conflict'(world) {
    const { id, mailbox } = await world.newOrganization('business');
    const [move] = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, 1, 'finished');
    return world.call('POST', `/api/operator/moves/${move}/start`, { as: world.operator, body: {} });
  },
  async 'downloadExport conflict'(world) {
    const { id, mailbox } = await world.newOrganization('business');
    const [move] = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, 1);
    const answer = await world.call('GET', `/api/operator/moves/${move}/content`, { as: world.operator });
    await world.sql(`delete from mailbox_move where id = $1`, [move]);
    return answer;
  },
  'rehearseErasure not_found': (world) =>
    world.call('GET', `/api/operator/erasures/rehearsal?kind=mailbox&subject=${newId('mailbox')}`, {
      as: world.operator,
    }),
  'createOrganization conflict': (world) =>
    world.call('POST', '/api/organizations', {
      as: world.operator,
      body: { name: 'Another', slug: world.organization.slug, ownerEmail: 'owner@people.test' },
    }),
  'updateOrganization conflict': (world) =>
    world.call('PATCH', '/api/organization', {
      as: world.organization.owner.session,
      body: { slug: world.other.slug },
    }),
  'inviteMember conflict': (world) =>
    world.call('POST', '/api/members', {
      as: world.organization.owner.session,
      body: { email: world.organization.member.email },
    }),
  async 'changeMemberRole conflict'(world) {
    const { owner } = await world.newOrganization('team');
    return world.call('PATCH', `/api/members/${owner.memberId}`, { as: owner.session, body: { role: 'admin' } });
  },
  async 'removeMember conflict'(world) {
    const { owner } = await world.newOrganization('team');
    return world.call('DELETE', `/api/members/${owner.memberId}`, { as: owner.session });
  },
  'listMessagesOfMailboxes not_found': (world) =>
    world.call('GET', `/api/messages?mailboxId=${world.other.mailbox.id}`, { as: world.organization.key }),
  'searchMessagesOfMailboxes not_found': (world) =>
    world.call('GET', `/api/messages/search?q=x&mailboxId=${world.other.mailbox.id}`, { as: world.organization.key }),
  'listThreadsOfMailboxes not_found': (world) =>
    world.call('GET', `/api/threads?mailboxId=${world.other.mailbox.id}`, { as: world.organization.key }),
  async 'createMailboxToken conflict'(world) {
    const { id } = await world.newMailbox(world.organization);
    await world.sql(
      `insert into mailbox_token (id, organization_id, mailbox_id, name, token_hash)
       select 'tok_' || $1 || n, $2, $1, 'test', sha256(($1 || n)::bytea) from generate_series(2, $3::int) n`,
      [id, world.organization.id, TOKENS_PER_MAILBOX_MAX],
    );
    return world.call('POST', `/api/mailboxes/${id}/tokens`, {
      as: world.organization.key,
      body: { name: 'one more' },
    });
  },
  async 'createKey conflict'(world) {
    const organization = await world.newOrganization('team');
    await world.sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes)
       select 'key_' || $1 || n, $1, 'test', sha256(($1 || n)::bytea), '', '{org:read}' from generate_series(2, $2::int) n`,
      [organization.id, API_KEYS_MAX],
    );
    const body = { name: 'one more', scopes: ['org:read'] };
    return world.call('POST', '/api/keys', { as: organization.owner.session, body });
  },
};
