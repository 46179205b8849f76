/** What several cases need. */
import assert from 'node:assert/strict';
import { newId } from '#core/platform/new-id.ts';
import {
  type Answer,
  type ApiWorld,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';

export type Reach = (world: ApiWorld) => Promise<Answer>;

export async function created(
  world: ApiWorld,
  path: string,
  organization: TestOrganization,
  body: unknown,
): Promise<string> {
  const answer = await world.call('POST', path, { as: organization.owner.session, body });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

export async function tryPasswords(tries: number, once: (number: number) => Promise<Answer>): Promise<Answer> {
  let last = await once(0);
  for (let number = 1; number < tries; number++) last = await once(number);
  return last;
}

export const ownMessage =
  (rest: string, method = 'GET', body?: unknown): Reach =>
  (world) =>
    world.call(method, `/api/mailbox/messages/${newId('message')}${rest}`, {
      as: world.organization.mailbox.token,
      ...(body === undefined ? {} : { body }),
    });

/** A message in the INBOX of a new mailbox, which wrote it to itself. */
export async function ownMail(world: ApiWorld): Promise<{ mailbox: TestMailbox; messageId: string }> {
  const mailbox = await world.newMailbox(world.organization);
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [mailbox.address], subject: 'To myself', text: 'x' },
  });
  assert.equal(sent.status, 201, sent.text);
  return { mailbox, messageId: textAt(sent.body, 'id') };
}

/** Sets a brake on the sending of a mailbox. */
export async function brake(
  world: ApiWorld,
  { id }: TestMailbox,
  sendingMode: 'stopped' | 'drafts_only',
): Promise<void> {
  const as = world.organization.owner.session;
  const answer = await world.call('PATCH', `/api/mailboxes/${id}`, { as, body: { sendingMode } });
  assert.equal(answer.status, 200, answer.text);
}

export const BRAKES = [
  { mode: 'stopped', code: 'sending_stopped' },
  { mode: 'drafts_only', code: 'drafts_only' },
] as const;

/** A held message of the organization. @returns id of its consent */
export async function heldMessage(
  world: ApiWorld,
  { token }: TestMailbox = world.organization.mailbox,
): Promise<string> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: token,
    body: { to: [`${newId('request')}@stranger.example`], subject: 'Hello', text: 'x' },
  });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'consentId');
}

/** Sign-ins from one address are counted together, so each case that fails on purpose uses its own address. */
export const from = (address: string) => ({ 'x-forwarded-for': address });
