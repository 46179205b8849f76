import type { Sql } from '#db/database.ts';
import { signingKeysOf } from '#db/queries/webhooks/signing-keys.ts';
import { PLANS_WITH_WEBHOOKS } from '#domain/organizations/plans.ts';
import type { ReservedAttempt } from './attempts.ts';

/** The data of an endpoint that an attempt needs. */
export type SendableEndpoint = Pick<
  ReservedAttempt,
  'url' | 'authHeaderName' | 'authHeaderValueSealed' | 'secretSealed' | 'previousSecretSealed' | 'signingKeys'
>;

const SENDABLE = /* sql */ `
  select e.url, e.auth_header_name as "authHeaderName", e.auth_header_value_sealed as "authHeaderValueSealed",
         e.secret_sealed as "secretSealed",
         case when e.previous_secret_expires_at > now() then e.previous_secret_sealed end as "previousSecretSealed",
         ${signingKeysOf('e')} as "signingKeys"
    from webhook_endpoints e join organizations o on o.id = e.organization_id
   where e.id = $1 and e.active and e.deleted_at is null and o.plan = any($2)`;

/** The current endpoint; undefined if it is inactive or deleted, or its organization's plan has no webhooks. */
export async function sendableEndpoint(sql: Sql, endpointId: string): Promise<SendableEndpoint | undefined> {
  const [endpoint] = await sql.query<SendableEndpoint>(SENDABLE, [endpointId, PLANS_WITH_WEBHOOKS]);
  return endpoint;
}
