/** The decisions about held mail, as a session, an API key or the link of a notice asks for them. */
import { SEND_BODY_LIMIT_BYTES } from '#api/messages/sending/send-schema.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Approval, approveHeld } from '#sending/consent/approve-held.ts';
import { type Decided, denyConsent } from '#sending/consent/decide-consent.ts';
import { takeBackApproval } from '#sending/consent/take-back.ts';
import { continueApproval, signalDecided } from '#sending/submit/start-outbound.ts';
import {
  ApproveConsent,
  Consent,
  DenyConsent,
  decidedExample,
  pendingExample,
  presentConsent,
  ReturnConsent,
} from './schema.ts';

interface DecisionRequest {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly organization: { readonly id: string };
  readonly caller: Caller;
}

/** The answer to a decision; the workflows are signalled, and further requests it covers decided, after the commit. */
async function answerDecided(
  { services, temporal, organization, caller }: DecisionRequest,
  { consent, messageIds, more }: Decided,
) {
  await services.db.afterCommit(async () => {
    await signalDecided(services, temporal, messageIds);
    if (more) await continueApproval(services, temporal, { id: consent.id, organizationId: organization.id }, caller);
  });
  return { status: 200, body: presentConsent(consent) } as const;
}

export async function answerApproved(request: DecisionRequest, consentId: string, approval: Approval) {
  const { services, organization, caller } = request;
  return answerDecided(request, await approveHeld(services, organization.id, consentId, approval, caller));
}

/** @param denial `sha256`: of the message that was shown; `returned`: the agent gets the reason and may change it */
export async function answerDenied(
  request: DecisionRequest,
  consentId: string,
  { reason = null, ...how }: { reason?: string | null | undefined; sha256?: string | undefined; returned?: boolean },
) {
  const { services, organization, caller } = request;
  return answerDecided(request, await denyConsent(services, organization.id, consentId, reason, caller, how));
}

export async function answerTakenBack(request: DecisionRequest, consentId: string) {
  const { services, organization, caller } = request;
  return answerDecided(request, await takeBackApproval(services, organization.id, consentId, caller));
}

const answers = (description: string, example: object) => ({ 200: { description, schema: Consent, example } });

/** What the routes of each decision take and answer. */
export const APPROVING = { body: ApproveConsent, bodyLimitBytes: SEND_BODY_LIMIT_BYTES } as const;
export const DENYING = {
  body: DenyConsent,
  bodyExample: { reason: 'Not a customer of ours.' },
  responses: answers('Denied.', decidedExample('denied', null, 'Not a customer of ours.')),
} as const;
export const RETURNING = {
  body: ReturnConsent,
  bodyExample: { comment: 'Please leave out the price.' },
  responses: answers('Sent back.', decidedExample('denied', null, 'Please leave out the price.', true)),
} as const;
export const TAKING_BACK = { responses: answers('It waits again.', pendingExample) } as const;
