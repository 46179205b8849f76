/** Every limit allows exactly as many uses as it says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  limitApprovalLinks,
  limitLinkTokens,
  limitOAuthRegistrations,
  limitOAuthTokens,
} from '#api/http/rate-limit.ts';
import { LINK_TOKEN_TRIES_PER_MINUTE } from '#domain/access/credential-format.ts';
import {
  OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR,
  OAUTH_TOKEN_REQUESTS_PER_SOURCE_AND_MINUTE,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { APPROVAL_LINK_REQUESTS_PER_MINUTE } from '#domain/sending/approval-notices.ts';
import { type ApiWorld, apiWorld, errorCode } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const PLAN_LIMITED = ['free', 'team', 'business'] as const;

for (const plan of PLAN_LIMITED)
  test(`the plan ${plan} allows ${PLANS[plan].apiRequestsPerMinute} requests a minute, and not one more`, async () => {
    const organization = await world.newOrganization(plan);
    const get = () => world.call('GET', '/api/organization', { as: organization.key });
    await get();
    // All but one were used.
    await world.sql(`update rate_limits set used = $2 where key = $1`, [
      `api:${organization.id}`,
      (PLANS[plan].apiRequestsPerMinute ?? 0) - 1,
    ]);
    const last = await get();
    assert.deepEqual([last.status, last.headers.get('ratelimit-remaining')], [200, '0']);
    const beyond = await get();
    assert.deepEqual([beyond.status, errorCode(beyond)], [429, 'rate_limited']);
  });

for (const [what, limit, uses] of [
  ['links of approvals', limitApprovalLinks, APPROVAL_LINK_REQUESTS_PER_MINUTE],
  ['tokens of links', limitLinkTokens, LINK_TOKEN_TRIES_PER_MINUTE],
  ['OAuth tokens', limitOAuthTokens, OAUTH_TOKEN_REQUESTS_PER_SOURCE_AND_MINUTE],
  ['OAuth registrations', limitOAuthRegistrations, OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR],
] as const)
  test(`${what}: ${uses} uses of one source, and not one more`, async () => {
    const services = { ...world.services, now: () => 1_800_000_000_000 };
    for (let use = 0; use < uses; use++) await limit(services, '192.0.2.77');
    await assert.rejects(
      limit(services, '192.0.2.77'),
      (error) => error instanceof CatalogueError && error.code === 'rate_limited',
    );
    await limit(services, '198.51.100.77');
  });
