/** For every POST route a request that succeeds, made anew for each call, with what it needs to be there before. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beginDeviceSignIn, decideDeviceSignIn } from '#core/accounts/device-sign-ins.ts';
import { createPasswordReset } from '#core/accounts/passwords.ts';
import { type ApiWorld, type Credential, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { authenticator, newPasskeyOptions, passkeyOptions, personWithPasskey } from '#test/support/authenticator.ts';
import { holdMail } from '#test/support/held-mail.ts';
import { asking, beginRequest, oauthHost } from '#test/support/oauth-host.ts';
import { finish, linkedPerson, returned, useProvider } from '#test/support/oidc.ts';
import { openMoves } from '#test/support/open-moves.ts';
import { challengeOf, personWithBegunTotp, personWithTotp } from '#test/support/second-factor.ts';
import { newApprovalLink } from './approval-link-world.ts';

export interface PostRequest {
  readonly path: string;
  readonly as: Credential;
  readonly body?: object;
}

type Make = (world: ApiWorld) => Promise<PostRequest>;

const unique = (): string => randomBytes(6).toString('hex');

async function made(world: ApiWorld, path: string, as: Credential, body: object, status = 201): Promise<unknown> {
  const answer = await world.call('POST', path, { as, body });
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}

const ofKey =
  (path: string, body?: () => object): Make =>
  async ({ organization }) => ({ path, as: organization.key, ...(body === undefined ? {} : { body: body() }) });

const ofOwner =
  (path: string, body: () => object): Make =>
  async ({ organization }) => ({ path, as: organization.owner.session, body: body() });

const newMailbox = async (world: ApiWorld): Promise<string> => {
  const { id } = await world.newMailbox(world.organization);
  return id;
};

/** A message in the INBOX of the mailbox. */
async function received(world: ApiWorld): Promise<string> {
  const { mailbox } = world.organization;
  const subject = `Received ${unique()}`;
  await made(world, '/api/mailbox/messages', mailbox.token, { to: [mailbox.address], subject, text: 'x' });
  const answer = await world.call('GET', `/api/mailbox/messages?subject=${encodeURIComponent(subject)}&folder=INBOX`, {
    as: mailbox.token,
  });
  return textAt(answer.body, 'data', 0, 'id');
}

async function heldConsent(world: ApiWorld): Promise<string> {
  const held = { to: [`${unique()}@stranger.example`], subject: 'Held', text: 'x' };
  return textAt(await made(world, '/api/mailbox/messages', world.organization.mailbox.token, held, 202), 'consentId');
}

/** Of a source of its own, because there is a limit for each. */
const failedMove = async (world: ApiWorld): Promise<string> => {
  const { id, mailbox } = world.organization;
  const [move = ''] = await openMoves(world, { organizationId: id, mailboxId: mailbox.id }, 1, 'failed');
  return move;
};
/** Only some exports and imports may be open. */
async function mailboxToMove(world: ApiWorld): Promise<string> {
  await world.sql('delete from mailbox_move');
  return newMailbox(world);
}
const newDeviceSignIn = (world: ApiWorld) => beginDeviceSignIn(world.services, 'a terminal', unique());

const newEndpoint = async (world: ApiWorld): Promise<string> =>
  textAt(
    await made(world, '/api/webhooks', world.organization.key, {
      url: 'https://127.0.0.1/hook',
      eventTypes: ['email_blocked'],
    }),
    'id',
  );

/** An endpoint with a delivery that was given up. */
async function givenUp(world: ApiWorld): Promise<{ endpoint: string; delivery: string }> {
  const endpoint = await newEndpoint(world);
  const delivery = textAt(await made(world, `/api/webhooks/${endpoint}/test`, world.organization.key, {}, 202), 'id');
  await world.sql(
    `update deliveries set status = 'exhausted', reason = 'attempts_exhausted', attempt_count = 5, completed_at = now()
      where id = $1`,
    [delivery],
  );
  return { endpoint, delivery };
}

const recovery =
  (verb: 'pause' | 'resume' | 'cancel'): Make =>
  async (world) => {
    const { endpoint } = await givenUp(world);
    const { key } = world.organization;
    const since = { since: new Date(Date.now() - 3_600_000).toISOString() };
    const id = textAt(await made(world, `/api/webhooks/${endpoint}/recover`, key, since, 202), 'id');
    const path = `/api/webhooks/${endpoint}/recoveries/${id}`;
    if (verb === 'resume') await made(world, `${path}/pause`, key, {}, 200);
    return { path: `${path}/${verb}`, as: key };
  };

const letter = (world: ApiWorld) => ({
  to: [world.organization.mailbox.address],
  subject: `Sent ${unique()}`,
  text: unique(),
});

/** The same operation by an API key and by the mailbox's own token. */
function ofMailbox(suffix: (world: ApiWorld) => Promise<string>, body?: (world: ApiWorld) => object) {
  const request = async (world: ApiWorld, as: Credential, base: string): Promise<PostRequest> => ({
    path: `${base}/${await suffix(world)}`,
    as,
    ...(body === undefined ? {} : { body: body(world) }),
  });
  return {
    byKey: ((world) => {
      const { key, mailbox } = world.organization;
      return request(world, key, `/api/mailboxes/${mailbox.id}`);
    }) satisfies Make,
    byToken: ((world) => request(world, world.organization.mailbox.token, '/api/mailbox')) satisfies Make,
  };
}

const send = ofMailbox(async () => 'messages', letter);
const reply = ofMailbox(
  async (world) => `messages/${await received(world)}/reply`,
  () => ({ text: unique() }),
);
const replyAll = ofMailbox(
  async (world) => `messages/${await received(world)}/reply-all`,
  () => ({ text: unique() }),
);
const forward = ofMailbox(
  async (world) => `messages/${await received(world)}/forward`,
  (world) => ({
    to: [world.organization.mailbox.address],
    text: unique(),
  }),
);
const change = ofMailbox(
  async () => 'messages/change',
  () => ({ query: {}, flagged: true }),
);
const draft = ofMailbox(async () => 'drafts', letter);
const sendDraft = ofMailbox(
  async (world) => {
    const saved = await made(world, '/api/mailbox/drafts', world.organization.mailbox.token, letter(world));
    return `drafts/${textAt(saved, 'id')}/send`;
  },
  () => ({}),
);

const listEntry = (direction: string, action: string): Make =>
  ofKey(`/api/lists/${direction}/${action}`, () => ({ value: `${unique()}.example` }));

/** By operation id. */
export const postRequests: Readonly<Record<string, Make>> = {
  createMailbox: ofKey('/api/mailboxes', () => ({ localPart: `made-${unique()}`, name: 'Made' })),
  rotateMailboxToken: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/rotate-token`,
    as: world.organization.key,
  }),
  createMailboxAlias: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/aliases`,
    as: world.organization.key,
    body: { note: 'for shop.example' },
  }),
  createAlias: async (world) => ({
    path: '/api/mailbox/aliases',
    as: (await world.newMailbox(world.organization)).token,
    body: { note: 'for shop.example' },
  }),
  createMailboxToken: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/tokens`,
    as: world.organization.key,
    body: { name: 'Made', access: 'read' },
  }),
  async resumeMailboxSending(world) {
    const id = await newMailbox(world);
    await world.sql(
      `insert into mailbox_sending (mailbox_id, state, reason, reviewed_at) values ($1, 'paused', 'bounces', now())`,
      [id],
    );
    return { path: `/api/mailboxes/${id}/resume-sending`, as: world.organization.owner.session };
  },
  sendMailboxMessage: send.byKey,
  sendMessage: send.byToken,
  replyToMailboxMessage: reply.byKey,
  replyToMessage: reply.byToken,
  replyToAllOfMailboxMessage: replyAll.byKey,
  replyToAllOfMessage: replyAll.byToken,
  forwardMailboxMessage: forward.byKey,
  forwardMessage: forward.byToken,
  changeMailboxMessages: change.byKey,
  changeMessages: change.byToken,
  createMailboxDraft: draft.byKey,
  createDraft: draft.byToken,
  sendMailboxDraft: sendDraft.byKey,
  sendDraft: sendDraft.byToken,
  approveConsent: async (world) => ({
    path: `/api/consents/${await heldConsent(world)}/approve`,
    as: world.organization.owner.session,
    body: { scope: 'message' },
  }),
  denyConsent: async (world) => ({
    path: `/api/consents/${await heldConsent(world)}/deny`,
    as: world.organization.owner.session,
    body: { reason: 'no' },
  }),
  decideHeldMail: async (world) => ({
    path: `/api/held-mail/${await holdMail(world)}/decide`,
    as: world.organization.owner.session,
    body: { decision: 'release_and_trust' },
  }),
  async takeBackApproval(world) {
    const as = world.organization.owner.session;
    await world.call('PATCH', '/api/organization', { as, body: { settings: { undoSeconds: 60 } } });
    const id = await heldConsent(world);
    await made(world, `/api/consents/${id}/approve`, as, { scope: 'message' }, 200);
    await world.call('PATCH', '/api/organization', { as, body: { settings: { undoSeconds: 0 } } });
    return { path: `/api/consents/${id}/take-back`, as };
  },
  createStandingApproval: async ({ organization }) => ({
    path: '/api/standing-approvals',
    as: organization.owner.session,
    body: {
      mailboxId: organization.mailbox.id,
      recipients: [`${unique()}.example`],
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      messagesMax: 5,
    },
  }),
  setLegalHold: async (world) => ({
    path: '/api/legal-holds',
    as: world.organization.owner.session,
    body: { mailboxId: await newMailbox(world), reason: 'Case 2026-114' },
  }),
  denyConsents: async (world) => ({
    path: '/api/consents/deny',
    as: world.organization.owner.session,
    body: { consentIds: [await heldConsent(world)] },
  }),
  async decideConsents(world) {
    const consentId = await heldConsent(world);
    const as = world.organization.owner.session;
    const message = await world.call('GET', `/api/consents/${consentId}/message`, { as });
    const shown = [{ consentId, sha256: textAt(message.body, 'sha256') }];
    return { path: '/api/consents/decide', as, body: { decision: 'approve', shown } };
  },
  // About no mailbox that there is: other requests of the tests are decided as before.
  createDecisionRule: ofOwner('/api/decision-rules', () => ({ mailboxGroup: `none-${unique()}`, persons: 2 })),
  returnConsent: async (world) => ({
    path: `/api/consents/${await heldConsent(world)}/return`,
    as: world.organization.owner.session,
    body: { comment: 'Shorter, please.' },
  }),
  addInboundBlock: listEntry('inbound', 'block'),
  // For a person: mail of these is not screened, and what is sent to these needs no consent.
  addInboundAllow: ofOwner('/api/lists/inbound/allow', () => ({ value: `${unique()}.example` })),
  addOutboundAllow: ofOwner('/api/lists/outbound/allow', () => ({ value: `${unique()}.example` })),
  addOutboundBlock: listEntry('outbound', 'block'),
  testLists: ofKey('/api/lists/test', () => ({ direction: 'inbound', address: 'x@y.example' })),
  createDomain: ofKey('/api/domains', () => ({ name: `${unique()}.example` })),
  async verifyDomain(world) {
    const name = `${unique()}.example`;
    const id = textAt(await made(world, '/api/domains', world.organization.key, { name }), 'id');
    const [row] = await world.sql(`select records from domains where id = $1`, [id]);
    world.dns.records = row?.['records'] as typeof world.dns.records;
    return { path: `/api/domains/${id}/verify`, as: world.organization.key };
  },
  createSession: async (world) => ({
    path: '/api/sessions',
    as: {},
    body: { email: (await world.newPerson(world.organization.id, 'member')).email, password: TEST_PASSWORD },
  }),
  async answerSecondFactor(world) {
    const { email, code } = await personWithTotp(world);
    return {
      path: '/api/sessions/second-factor',
      as: {},
      body: { challenge: await challengeOf(world, email), code: await code() },
    };
  },
  beginPasskeySignIn: async () => ({ path: '/api/sessions/passkey/begin', as: {} }),
  async signInByPasskey(world) {
    const { device } = await personWithPasskey(world);
    const passkey = device.assert(await passkeyOptions(world, 'sign-in'));
    return { path: '/api/sessions/passkey', as: {}, body: { passkey } };
  },
  async beginPasskeyStep(world) {
    const { email } = await personWithPasskey(world);
    const challenge = await challengeOf(world, email);
    return { path: '/api/sessions/second-factor/passkey', as: {}, body: { challenge } };
  },
  async beginPasskey(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return { path: '/api/sessions/current/passkeys/begin', as: session, body: { password: TEST_PASSWORD } };
  },
  async addPasskey(world) {
    const person = await world.newPerson(world.organization.id, 'member');
    const passkey = authenticator(world.api.url).register(await newPasskeyOptions(world, person));
    return { path: '/api/sessions/current/passkeys', as: person.session, body: { name: 'Laptop', passkey } };
  },
  async beginPasskeyConfirmation(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return { path: '/api/sessions/current/passkeys/confirmation', as: session };
  },
  async removePasskey(world) {
    const { session, passkeyId, device } = await personWithPasskey(world);
    const passkey = device.assert(await passkeyOptions(world, { session }));
    return { path: `/api/sessions/current/passkeys/${passkeyId}/remove`, as: session, body: { passkey } };
  },
  async beginSingleSignOn(world) {
    await useProvider(world);
    return { path: '/api/sessions/oidc/begin', as: {} };
  },
  async finishSingleSignOn(world) {
    await linkedPerson(world);
    return { path: '/api/sessions/oidc', as: {}, body: await returned(world) };
  },
  async linkSingleSignOn(world) {
    const { email, userId } = await world.newPerson(world.organization.id, 'member');
    (await useProvider(world)).signInAs({ subject: `of ${userId}`, email });
    const link = textAt((await finish(world)).body, 'link');
    return { path: '/api/sessions/oidc/link', as: {}, body: { link, password: TEST_PASSWORD } };
  },
  async beginTotp(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const body = { password: TEST_PASSWORD };
    return { path: '/api/sessions/current/second-factor/totp', as: session, body };
  },
  async confirmTotp(world) {
    const { session, code } = await personWithBegunTotp(world);
    return { path: '/api/sessions/current/second-factor/totp/confirm', as: session, body: { code: await code() } };
  },
  async removeTotp(world) {
    const { session, code } = await personWithTotp(world);
    return { path: '/api/sessions/current/second-factor/totp/remove', as: session, body: { code: await code() } };
  },
  async renewRecoveryCodes(world) {
    const { session, code } = await personWithTotp(world);
    return { path: '/api/sessions/current/second-factor/recovery-codes', as: session, body: { code: await code() } };
  },
  async resetMemberSecondFactor(world) {
    const { memberId } = await personWithTotp(world);
    return { path: `/api/members/${memberId}/second-factor-reset`, as: world.organization.owner.session };
  },
  requestPasswordReset: async () => ({
    path: '/api/password-resets',
    as: {},
    body: { email: `${unique()}@people.test` },
  }),
  async acceptPasswordReset(world) {
    const { userId } = await world.newPerson(world.organization.id, 'member');
    const { token } = await createPasswordReset(world.services, world.services.db, userId);
    return { path: '/api/password-resets/accept', as: {}, body: { token, password: TEST_PASSWORD } };
  },
  uploadMailboxFile: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/files?filename=a.json`,
    as: world.organization.key,
    body: { any: 'content' },
  }),
  createMailboxUpload: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/files/uploads`,
    as: world.organization.key,
    body: { filename: 'a.json' },
  }),
  uploadFile: async (world) => ({
    path: '/api/mailbox/files?filename=a.json',
    as: (await world.newMailbox(world.organization)).token,
    body: { any: 'content' },
  }),
  createUpload: async (world) => ({
    path: '/api/mailbox/files/uploads',
    as: (await world.newMailbox(world.organization)).token,
    body: { filename: 'a.json' },
  }),
  beginDeviceSignIn: async () => ({ path: '/api/device-sign-ins', as: {}, body: { name: 'a terminal' } }),
  async takeDeviceSession(world) {
    const { userId } = await world.newPerson(world.organization.id, 'member');
    const { deviceCode, userCode } = await newDeviceSignIn(world);
    await decideDeviceSignIn(world.services, { id: userId, secondFactorAt: null }, userCode, true);
    return { path: '/api/device-sign-ins/session', as: {}, body: { deviceCode } };
  },
  async lookAtDeviceSignIn(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const { userCode } = await newDeviceSignIn(world);
    return { path: '/api/device-sign-ins/look', as: session, body: { userCode } };
  },
  async decideDeviceSignIn(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const { userCode } = await newDeviceSignIn(world);
    return { path: '/api/device-sign-ins/decide', as: session, body: { userCode, approve: true } };
  },
  async beginOAuthRequest(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const { parameters } = asking(await oauthHost(), world.api.url);
    return { path: '/api/oauth/requests', as: session, body: { query: String(new URLSearchParams(parameters)) } };
  },
  async decideOAuthRequest(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const { parameters } = asking(await oauthHost(), world.api.url);
    const begun = await beginRequest(world, session, parameters);
    const body = { approve: true, mailboxId: await newMailbox(world), access: 'read' };
    return { path: `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`, as: session, body };
  },
  async resetMemberPassword(world) {
    const { memberId } = await world.newPerson(world.organization.id, 'member');
    return { path: `/api/members/${memberId}/password-reset`, as: world.organization.owner.session };
  },
  async testChatWebhook(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    const body = { approvals: 'none', chat: { form: 'slack', url: 'https://127.0.0.1/hook' } };
    const saved = await world.call('PUT', '/api/sessions/current/notices', { as: session, body });
    assert.equal(saved.status, 200, saved.text);
    return { path: '/api/sessions/current/notices/test', as: session };
  },
  async approveByLink(world) {
    const as = await newApprovalLink(world, world.organization);
    return { path: '/api/approval/approve', as, body: { scope: 'message' } };
  },
  denyByLink: async (world) => ({
    path: '/api/approval/deny',
    as: await newApprovalLink(world, world.organization),
    body: {},
  }),
  async takeBackByLink(world) {
    const owner = world.organization.owner.session;
    const as = await newApprovalLink(world, world.organization);
    await world.call('PATCH', '/api/organization', { as: owner, body: { settings: { undoSeconds: 60 } } });
    await made(world, '/api/approval/approve', as, { scope: 'message' }, 200);
    await world.call('PATCH', '/api/organization', { as: owner, body: { settings: { undoSeconds: 0 } } });
    return { path: '/api/approval/take-back', as };
  },
  returnByLink: async (world) => ({
    path: '/api/approval/return',
    as: await newApprovalLink(world, world.organization),
    body: { comment: 'Shorter, please.' },
  }),
  lookAtInvitation: async (world) => ({
    path: '/api/invitations/look',
    as: {},
    body: { token: await world.newInvitation(world.organization, `${unique()}@people.test`) },
  }),
  inviteMember: ofOwner('/api/members', () => ({ email: `${unique()}@people.test` })),
  async acceptInvitation(world) {
    const token = await world.newInvitation(world.organization, `${unique()}@people.test`);
    return { path: '/api/invitations/accept', as: {}, body: { token, name: 'New', password: TEST_PASSWORD } };
  },
  createKey: ofOwner('/api/keys', () => ({ name: 'Made', scopes: ['mailbox:read'] })),
  createOrganization: async ({ operator }) => ({
    path: '/api/organizations',
    as: operator,
    body: { name: 'Made', slug: `made-${unique()}`, ownerEmail: `${unique()}@people.test` },
  }),
  eraseContent: async (world) => ({
    path: '/api/operator/erasures',
    as: world.operator,
    body: { kind: 'mailbox', subject: await newMailbox(world), yes: true },
  }),
  exportMailbox: async (world) => ({
    path: '/api/operator/exports',
    as: world.operator,
    body: { mailbox: await mailboxToMove(world) },
  }),
  importMail: async (world) => ({
    path: '/api/operator/imports',
    as: world.operator,
    body: { mailbox: await mailboxToMove(world) },
  }),
  startMove: async (world) => ({
    path: `/api/operator/moves/${await failedMove(world)}/start`,
    as: world.operator,
    body: {},
  }),
  sendTestMail: async (world) => ({
    path: `/api/mailboxes/${await newMailbox(world)}/test-mail`,
    as: world.organization.owner.session,
  }),
  openReceiver: async (world) => {
    // One that is open already would be answered with.
    await world.sql('delete from webhook_receiver where organization_id = $1', [world.organization.id]);
    return { path: '/api/receiver', as: world.organization.key };
  },
  checkWebhookUrl: ofKey('/api/webhooks/check-url', () => ({ url: 'https://127.0.0.1/hook' })),
  createWebhook: ofKey('/api/webhooks', () => ({
    url: 'https://127.0.0.1/hook',
    eventTypes: ['email_blocked'],
    authHeader: { name: 'X-Token', value: 'x' },
  })),
  rotateWebhookSecret: async (world) => ({
    path: `/api/webhooks/${await newEndpoint(world)}/rotate-secret`,
    as: world.organization.key,
    body: {},
  }),
  async rotateWebhookSigningKey(world) {
    // The third key of an organization would take the place of the first.
    const { key } = await world.newOrganization('business');
    return { path: '/api/webhooks/signing-keys/rotate', as: key, body: {} };
  },
  testWebhook: async (world) => ({
    path: `/api/webhooks/${await newEndpoint(world)}/test`,
    as: world.organization.key,
    body: {},
  }),
  async resendDelivery(world) {
    const { endpoint, delivery } = await givenUp(world);
    return { path: `/api/webhooks/${endpoint}/deliveries/${delivery}/resend`, as: world.organization.key };
  },
  async recoverDeliveries(world) {
    const { endpoint } = await givenUp(world);
    return {
      path: `/api/webhooks/${endpoint}/recover`,
      as: world.organization.key,
      body: { since: new Date(Date.now() - 3_600_000).toISOString() },
    };
  },
  pauseRecovery: recovery('pause'),
  resumeRecovery: recovery('resume'),
  cancelRecovery: recovery('cancel'),
};
