/** Errors of decisions, in a session and by the link of a notice. */
import assert from 'node:assert/strict';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { LEGAL_HOLDS_MAX } from '#domain/mail/mail-retention.ts';
import { APPROVAL_LINK_REQUESTS_PER_MINUTE } from '#domain/sending/approval-notices.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { approvalLink, holdMessage, newApprovalLink } from '#test/api/approval-link-world.ts';
import { type ApiWorld, asBearer } from '#test/support/api-world.ts';
import { holdMail } from '#test/support/held-mail.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { from, heldMessage, type Reach, tryPasswords } from './reach.ts';

const decideTwice =
  (verb: 'approve' | 'deny' | 'return', body: object): Reach =>
  async (world) => {
    const path = `/api/consents/${await heldMessage(world)}/${verb}`;
    const as = world.organization.owner.session;
    assert.equal((await world.call('POST', path, { as, body })).status, 200);
    return world.call('POST', path, { as, body });
  };

const approveInAdvance = (world: ApiWorld, mailboxId: string) =>
  world.call('POST', '/api/standing-approvals', {
    as: world.organization.owner.session,
    body: {
      mailboxId,
      recipients: ['a.example'],
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      messagesMax: 1,
    },
  });

let linkSources = 0;

/** Links used too often from one source. */
const limitedLink =
  (method: string, rest: string, body?: object): Reach =>
  (world) => {
    const headers = from(`198.51.100.${40 + linkSources++}`);
    const as = asBearer(newCredential('approvalLink'));
    return tryPasswords(APPROVAL_LINK_REQUESTS_PER_MINUTE + 1, () =>
      world.call(method, `/api/approval${rest}`, { as, headers, ...(body === undefined ? {} : { body }) }),
    );
  };

/** Somebody else's decision is committed between the look at the link and its decision. */
const decidedMeanwhile =
  (rest: string, body: object): Reach =>
  async (world) => {
    const held = await holdMessage(world, world.organization);
    const as = await approvalLink(world, world.organization, held);
    const other = await world.services.db.pool.connect();
    try {
      await other.query('begin');
      await other.query(`update consent set status = 'denied', decided_at = now(), decided_by = $2 where id = $1`, [
        held.consentId,
        JSON.stringify(SYSTEM_ACTOR),
      ]);
      const deciding = world.call('POST', `/api/approval${rest}`, {
        as,
        body,
        headers: from(`198.51.100.${40 + linkSources++}`),
      });
      await waitUntil('the decision to wait', async () => {
        const waiting = await world.sql(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      await other.query('commit');
      return await deciding;
    } finally {
      other.release();
    }
  };

export const approvalCases: Readonly<Record<string, Reach>> = {
  async 'decideHeldMail conflict'(world) {
    const path = `/api/held-mail/${await holdMail(world)}/decide`;
    const as = world.organization.member.session;
    assert.equal((await world.call('POST', path, { as, body: { decision: 'release' } })).status, 200);
    return world.call('POST', path, { as, body: { decision: 'block' } });
  },
  'getApproval rate_limited': limitedLink('GET', ''),
  'getApprovalRaw rate_limited': limitedLink('GET', '/raw'),
  'getApprovalAttachment rate_limited': limitedLink('GET', '/attachments/1'),
  'getApprovalAttachment not_found': async (world) =>
    world.call('GET', '/api/approval/attachments/99', {
      as: await newApprovalLink(world, world.organization),
      headers: from('198.51.100.31'),
    }),
  'approveByLink rate_limited': limitedLink('POST', '/approve', { scope: 'message' }),
  'denyByLink rate_limited': limitedLink('POST', '/deny', {}),
  async 'createDecisionRule conflict'(world) {
    await world.sql(
      `insert into decision_rule (id, organization_id, mailbox_group, recipients, member_ids, persons,
         escalates_after_hours, created_by, created_at)
       select 'rul_' || lpad(n::text, 26, '0'), $1, 'none', '{}', '{}', 2, 8, '{}', now() from generate_series(1, 100) n`,
      [world.organization.id],
    );
    const as = world.organization.owner.session;
    const answer = await world.call('POST', '/api/decision-rules', { as, body: { mailboxGroup: 'none', persons: 2 } });
    await world.sql(`delete from decision_rule where organization_id = $1`, [world.organization.id]);
    return answer;
  },
  'deleteDecisionRule not_found': (world) =>
    world.call('DELETE', '/api/decision-rules/rul_01k8e8f2c0e4x9w2v7a3r5t6y8', {
      as: world.organization.owner.session,
    }),
  'createStandingApproval not_found': (world) => approveInAdvance(world, world.other.mailbox.id),
  async 'createStandingApproval conflict'(world) {
    const { id } = await world.newMailbox(world.organization);
    await world.sql(
      `insert into standing_approval (id, organization_id, mailbox_id, recipients, ends_at, messages_max, created_by, created_at)
       select 'sta_' || lpad(n::text, 26, '0'), $1, $2, '{a.example}', now() + interval '1 day', 1, '{}', now()
         from generate_series(1, 50) n`,
      [world.organization.id, id],
    );
    return approveInAdvance(world, id);
  },
  'setLegalHold not_found': ({ call, organization, other }) =>
    call('POST', '/api/legal-holds', {
      as: organization.owner.session,
      body: { mailboxId: other.mailbox.id, reason: 'Case 1' },
    }),
  async 'setLegalHold conflict'(world) {
    const { id, owner } = await world.newOrganization('business');
    await world.sql(
      `insert into legal_hold (id, organization_id, reason, created_by, created_at)
       select 'lgh_' || lpad(n::text, 26, '0'), $1, 'Case', '{}', now() from generate_series(1, $2::int) n`,
      [id, LEGAL_HOLDS_MAX],
    );
    return world.call('POST', '/api/legal-holds', { as: owner.session, body: { reason: 'One more' } });
  },
  'takeBackByLink rate_limited': limitedLink('POST', '/take-back'),
  'takeBackByLink conflict': async (world) =>
    world.call('POST', '/api/approval/take-back', {
      as: await newApprovalLink(world, world.organization),
      headers: from('198.51.100.34'),
    }),
  'takeBackApproval conflict': async (world) =>
    world.call('POST', `/api/consents/${await heldMessage(world)}/take-back`, { as: world.organization.owner.session }),
  'returnByLink rate_limited': limitedLink('POST', '/return', { comment: 'No' }),
  'returnByLink conflict': decidedMeanwhile('/return', { comment: 'No' }),
  'approveByLink conflict': decidedMeanwhile('/approve', { scope: 'message' }),
  'denyByLink conflict': decidedMeanwhile('/deny', {}),
  async 'approveByLink recipient_blocked'(world) {
    const as = await newApprovalLink(world, world.organization);
    await world.call('POST', '/api/lists/outbound/block', {
      as: world.organization.owner.session,
      body: { value: 'blocked-by-link.example' },
    });
    return world.call('POST', '/api/approval/approve', {
      as,
      body: { scope: 'message', edit: { to: ['a@blocked-by-link.example'] } },
      headers: from('198.51.100.32'),
    });
  },
  async 'approveByLink content_refused'(world) {
    return world.call('POST', '/api/approval/approve', {
      as: await newApprovalLink(world, world.organization),
      body: { scope: 'message', edit: { text: newCredential('apiKey') } },
      headers: from('198.51.100.34'),
    });
  },
  async 'approveByLink quota_exceeded'(world) {
    const mailbox = await world.newMailbox(world.organization);
    const held = await holdMessage(world, { ...world.organization, mailbox });
    const as = await approvalLink(world, world.organization, held);
    await world.sql(`update mailbox_counter set quota_bytes = bytes_used + 10000 where mailbox_id = $1`, [mailbox.id]);
    return world.call('POST', '/api/approval/approve', {
      as,
      body: { scope: 'message', edit: { text: 'x'.repeat(20_000) } },
      headers: from('198.51.100.33'),
    });
  },
  'approveConsent conflict': decideTwice('approve', { scope: 'message' }),
  'returnConsent conflict': decideTwice('return', { comment: 'No' }),
  'denyConsent conflict': decideTwice('deny', {}),
  async 'approveConsent recipient_blocked'(world) {
    const path = `/api/consents/${await heldMessage(world)}/approve`;
    const as = world.organization.owner.session;
    await world.call('POST', '/api/lists/outbound/block', { as, body: { value: 'blocked-edit.example' } });
    return world.call('POST', path, { as, body: { scope: 'message', edit: { to: ['a@blocked-edit.example'] } } });
  },
  async 'approveConsent content_refused'(world) {
    return world.call('POST', `/api/consents/${await heldMessage(world)}/approve`, {
      as: world.organization.owner.session,
      body: { scope: 'message', edit: { text: newCredential('apiKey') } },
    });
  },
  async 'approveConsent quota_exceeded'(world) {
    const mailbox = await world.newMailbox(world.organization);
    const id = await heldMessage(world, mailbox);
    await world.sql(`update mailbox_counter set quota_bytes = bytes_used + 10000 where mailbox_id = $1`, [mailbox.id]);
    return world.call('POST', `/api/consents/${id}/approve`, {
      as: world.organization.owner.session,
      body: { scope: 'message', edit: { text: 'x'.repeat(20_000) } },
    });
  },
};
