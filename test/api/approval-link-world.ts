/** Links of notices for tests: a message that is held, and a member's link to it. */
import assert from 'node:assert/strict';
import { createApprovalLink } from '#core/accounts/approval-links.ts';
import { type ApiWorld, asBearer, type Credential, type TestOrganization, textAt } from '#test/support/api-world.ts';

export interface HeldMessage {
  readonly id: string;
  readonly consentId: string;
}

let number = 0;

/** Submits a message to a stranger, which is held. */
export async function holdMessage(world: ApiWorld, of: TestOrganization, body: object = {}): Promise<HeldMessage> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: { to: [`linked${++number}@linked${number}.example`], subject: 'Linked', text: 'Some words.', ...body },
  });
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId') };
}

/** The link that a notice of this request would carry to this member. */
export async function approvalLink(
  world: ApiWorld,
  of: TestOrganization,
  { consentId }: Pick<HeldMessage, 'consentId'>,
  memberId: string = of.member.memberId,
): Promise<Credential> {
  const [row] = await world.sql(`select expires_at from consent where id = $1`, [consentId]);
  const expiresAt = row?.['expires_at'];
  assert.ok(expiresAt instanceof Date);
  const link = { organizationId: of.id, consentId, memberId, noticeId: 'ntc_test', expiresAt };
  return asBearer(await createApprovalLink(world.services, world.services.db, link));
}

/** A link to a new request. */
export const newApprovalLink = async (world: ApiWorld, of: TestOrganization): Promise<Credential> =>
  approvalLink(world, of, await holdMessage(world, of));
