/**
 * Endpoints that are set inactive for an organization: by the service, because they fail, or by its operator. Owners and
 * admins get a notice.
 *
 *   active ──nothing acknowledged for five days, twenty given up──▶ failing ──PATCH {"active": true}──▶ active
 *      └──────────────the operator suspends it──▶ suspended ──lifted──▶ inactive ──PATCH {"active": true}──▶ active
 */
import { recordAudit } from '#core/organizations/audit.ts';
import { type NewMemberNotice, sendNotices, writeNotices } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { type FailingEndpoint, failingEndpoints, setInactive } from '#db/queries/webhooks/endpoint-health.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { lockEndpoint } from './change-endpoint.ts';
import { auditedUrl } from './endpoint-rules.ts';
import { stopDeliveries } from './stop-deliveries.ts';

export interface Disabled {
  readonly endpointId: string;
  readonly notices: readonly NewMemberNotice[];
}

const CALLER = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

/**
 * Sets those of the endpoints inactive that have acknowledged nothing for five days and gave up twenty deliveries or
 * more in that time, and writes notices for owners and admins. Call it when deliveries of them were given up;
 * afterwards stop their deliveries and send the notices.
 */
export async function disableFailingEndpoints(
  services: Pick<Services, 'db' | 'now'>,
  endpointIds: readonly string[],
): Promise<Disabled[]> {
  const disabled: Disabled[] = [];
  for (const endpoint of await failingEndpoints(services.db, endpointIds, services.now())) {
    const notices = await disable(services, endpoint);
    if (notices !== undefined) disabled.push({ endpointId: endpoint.id, notices });
  }
  return disabled;
}

/** @returns undefined when it was changed meanwhile */
function disable(
  { db, now }: Pick<Services, 'db' | 'now'>,
  endpoint: FailingEndpoint,
): Promise<NewMemberNotice[] | undefined> {
  const { id, organizationId, failingSince, deliveries } = endpoint;
  return db.transaction(async (sql) => {
    if (!(await setInactive(sql, id, 'failing', failingSince))) return undefined;
    await recordAudit(sql, CALLER, {
      organizationId,
      action: 'webhook.disabled',
      targetId: id,
      details: { disabledReason: 'failing', failingSince, exhausted: deliveries },
    });
    const notice = failingNotice(endpoint);
    return writeNotices(sql, { organizationId, kind: 'webhook_failing', targetId: id, ...notice }, now());
  });
}

/**
 * Sets an endpoint inactive until the operator lifts it, stops its deliveries and writes notices for owners and admins.
 * An endpoint that is already suspended does not change.
 *
 * @throws {CatalogueError} not_found
 */
export async function suspendEndpoint(
  services: Services,
  temporal: TemporalClient,
  organization: { readonly id: string; readonly name: string },
  endpointId: string,
  caller: Caller,
  reason: string,
): Promise<void> {
  const notices = await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organization.id, endpointId);
    if (endpoint.disabledReason === 'suspended') return [];
    endpoint.active = false;
    endpoint.disabledReason = 'suspended';
    await em.flush();
    const sql = sqlOfEntityManager(em);
    await recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'webhook.suspended',
      targetId: endpointId,
      details: { reason },
    });
    const notice = suspendedNotice({ id: endpointId, url: endpoint.url, organizationName: organization.name }, reason);
    return writeNotices(
      sql,
      { organizationId: organization.id, kind: 'webhook_suspended', targetId: endpointId, ...notice },
      services.now(),
    );
  });
  stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_inactive');
  await sendNotices(services, temporal, notices);
}

/** Lets an organization set its endpoint active again. @throws {CatalogueError} not_found */
export async function liftSuspension(
  services: Services,
  organizationId: string,
  endpointId: string,
  caller: Caller,
): Promise<void> {
  await services.db.entityTransaction(async (em) => {
    const endpoint = await lockEndpoint(em, organizationId, endpointId);
    if (endpoint.disabledReason !== 'suspended') return;
    endpoint.disabledReason = null;
    await em.flush();
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'webhook.suspension_lifted',
      targetId: endpointId,
    });
  });
}

interface Notice {
  readonly subject: string;
  readonly text: string;
}

const NOT_RECORDED = 'While it is inactive, events are not recorded for it and will not be sent later.';

function failingNotice(endpoint: FailingEndpoint): Notice {
  const { failingSince, deliveries, since, lastError } = endpoint;
  const url = auditedUrl(endpoint.url);
  return {
    subject: `Webhook endpoint set inactive: ${new URL(url).host}`,
    text: `The webhook endpoint ${endpoint.id} of ${oneLine(endpoint.organizationName)},

  ${url}

has acknowledged nothing since ${failingSince.toISOString()}. ${deliveries} deliveries to it were given up, so it was set inactive (disabledReason: failing). Nothing is sent to it any more. ${NOT_RECORDED}
${lastError === null ? '' : `\nThe last attempt failed: ${oneLine(lastError)}\n`}
When its server works again:

  1. PATCH /api/webhooks/${endpoint.id}
     {"active": true}
  2. To have what was given up sent again:
     POST /api/webhooks/${endpoint.id}/recover
     {"since": "${since.toISOString()}"}

You get this mail as an owner or admin of the organization.
`,
  };
}

function suspendedNotice(endpoint: Pick<FailingEndpoint, 'id' | 'url' | 'organizationName'>, reason: string): Notice {
  const url = auditedUrl(endpoint.url);
  return {
    subject: `Webhook endpoint suspended: ${new URL(url).host}`,
    text: `The webhook endpoint ${endpoint.id} of ${oneLine(endpoint.organizationName)},

  ${url}

was suspended by the operator of this service (disabledReason: suspended):

  ${oneLine(reason)}

Nothing is sent to it, and it can be set active again only after the operator has lifted the suspension. ${NOT_RECORDED}

You get this mail as an owner or admin of the organization.
`,
  };
}
