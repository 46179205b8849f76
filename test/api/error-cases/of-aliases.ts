/** Errors of aliases, at both paths. */
import { newId } from '#core/platform/new-id.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { type ApiWorld, type TestMailbox, textAt } from '#test/support/api-world.ts';
import type { Reach } from './reach.ts';

const byKey = (world: ApiWorld, { id }: TestMailbox, body: object) =>
  world.call('POST', `/api/mailboxes/${id}/aliases`, { as: world.organization.key, body });

/** Of a mailbox of its own, by its token. @param base path of the mailbox */
const casesOf = (names: readonly [create: string, update: string, drop: string], base: (id: string) => string) => {
  const [create, update, drop] = names;
  const ask = (world: ApiWorld, mailbox: TestMailbox, body: object) =>
    world.call('POST', `${base(mailbox.id)}/aliases`, { as: mailbox.token, body });
  const one = (world: ApiWorld, method: string, mailbox: TestMailbox, id: string) =>
    world.call(method, `${base(mailbox.id)}/aliases/${id}`, {
      as: mailbox.token,
      ...(method === 'PATCH' ? { body: { enabled: false } } : {}),
    });
  const ofPerson = async (world: ApiWorld, method: string) => {
    const mailbox = await world.newMailbox(world.organization);
    return one(world, method, mailbox, textAt((await byKey(world, mailbox, {})).body, 'id'));
  };
  const unknown = async (world: ApiWorld, method: string) =>
    one(world, method, await world.newMailbox(world.organization), newId('alias'));
  const cases: Readonly<Record<string, Reach>> = {
    [`${create} invalid_local_part`]: async (world) =>
      ask(world, await world.newMailbox(world.organization), { localPart: 'billing' }),
    async [`${create} conflict`](world) {
      const mailbox = await world.newMailbox(world.organization);
      return ask(world, mailbox, { localPart: mailbox.address.split('@')[0] });
    },
    async [`${create} plan_limit_reached`](world) {
      const { mailbox, id } = await world.newOrganization('free');
      await world.sql(
        `insert into mailbox_alias (id, organization_id, mailbox_id, address, domain, by_token, created_at, updated_at)
         select 'als_' || $1 || n, $2, $1, $1 || n || '@x.test', 'x.test', false, now(), now()
           from generate_series(1, $3::int) n`,
        [mailbox.id, id, PLANS.free.maxAliasesPerMailbox],
      );
      return ask(world, mailbox, {});
    },
    async [`${create} forbidden`](world) {
      const { mailbox, owner } = await world.newOrganization('business');
      await world.call('PATCH', '/api/organization', { as: owner.session, body: { settings: { aliasesByToken: 0 } } });
      return ask(world, mailbox, {});
    },
    [`${update} forbidden`]: (world) => ofPerson(world, 'PATCH'),
    [`${update} not_found`]: (world) => unknown(world, 'PATCH'),
    [`${drop} forbidden`]: (world) => ofPerson(world, 'DELETE'),
    [`${drop} not_found`]: (world) => unknown(world, 'DELETE'),
  };
  return cases;
};

export const aliasCases: Readonly<Record<string, Reach>> = {
  ...casesOf(['createMailboxAlias', 'updateMailboxAlias', 'dropMailboxAlias'], (id) => `/api/mailboxes/${id}`),
  ...casesOf(['createAlias', 'updateAlias', 'dropAlias'], () => '/api/mailbox'),
};
