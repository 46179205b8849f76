/** What owners and admins read when the service sets an endpoint inactive. */
import { oneLine } from '#domain/mail/text-forms.ts';
import { auditedUrl } from './endpoint-rules.ts';

export interface DisabledEndpoint {
  readonly id: string;
  readonly url: string;
  readonly organizationName: string;
}

/** Deliveries that can be sent again by a recovery. */
export interface Recoverable {
  /** Creation of the oldest of them. */
  readonly since: Date;
  readonly deliveries: number;
}

const NOT_RECORDED = 'While it is inactive, events are not recorded for it and will not be sent later.';

export function failingNotice(
  endpoint: DisabledEndpoint,
  { failingSince, recoverable, lastError }: { failingSince: Date; recoverable: Recoverable; lastError: string | null },
): { readonly subject: string; readonly text: string } {
  const url = auditedUrl(endpoint.url);
  return {
    subject: `Webhook endpoint set inactive: ${new URL(url).host}`,
    text: `The webhook endpoint ${endpoint.id} of ${oneLine(endpoint.organizationName)},

  ${url}

has acknowledged nothing since ${failingSince.toISOString()}. ${recoverable.deliveries} deliveries to it were given up, so it was set inactive (disabledReason: failing). Nothing is sent to it any more. ${NOT_RECORDED}
${lastError === null ? '' : `\nThe last attempt failed: ${oneLine(lastError)}\n`}
When its server works again:

  1. PATCH /api/webhooks/${endpoint.id}
     {"active": true}
  2. To have what was given up sent again:
     POST /api/webhooks/${endpoint.id}/recover
     {"since": "${recoverable.since.toISOString()}"}

You get this mail as an owner or admin of the organization.
`,
  };
}

export function suspendedNotice(
  endpoint: DisabledEndpoint,
  reason: string,
): { readonly subject: string; readonly text: string } {
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
