import { recordAudit } from '#core/organizations/audit.ts';
import { type NewMemberNotice, writeNotices } from '#core/organizations/member-notices.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type FailingEndpoint, failingEndpoints, setInactive } from '#db/queries/webhooks/endpoint-health.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { failingNotice } from './endpoint-notices.ts';

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
  const { id, organizationId, failingSince, deliveries, since } = endpoint;
  return db.transaction(async (sql) => {
    if (!(await setInactive(sql, id, 'failing', failingSince))) return undefined;
    await recordAudit(sql, CALLER, {
      organizationId,
      action: 'webhook.disabled',
      targetId: id,
      details: { disabledReason: 'failing', failingSince, exhausted: deliveries },
    });
    const { subject, text } = failingNotice(endpoint, { ...endpoint, recoverable: { since, deliveries } });
    return writeNotices(sql, { organizationId, kind: 'webhook_failing', targetId: id, subject, text }, now());
  });
}
