/** The effects of sending, see `workflows/outbound-message.ts`. */
import { Context } from '@temporalio/activity';
import type { PatientDatabase } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import type { MemberNoticeProgress } from '#domain/organizations/member-notices.ts';
import type { GateResult, OutboundProgress } from '#domain/sending/outbound-workflow.ts';
import { attemptMessage, cancelMessage, type RoundControl } from '#sending/attempt/attempt-message.ts';
import { passConsentGate, type StartNotices } from '#sending/consent/consent-gate.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import type { Transport } from '#sending/transports/transport.ts';

export interface OutboundActivities {
  passConsentGate(messageId: string): Promise<GateResult>;
  attemptOutbound(messageId: string): Promise<OutboundProgress>;
  cancelOutbound(messageId: string): Promise<void>;
  sendMemberNotice(noticeId: string): Promise<MemberNoticeProgress>;
}

export interface OutboundDependencies {
  readonly transport: Transport;
  /** Sends messages of chat webhooks. */
  readonly chat: Pick<WebhookSender, 'send'>;
  readonly startNotices: StartNotices;
}

/**
 * Results are recorded before anything throws, so each activity can be repeated from its start after a database outage:
 * the rows say what remains.
 *
 * @param draining aborted when the worker shuts down: attempts in flight end, no others start
 */
export const outboundActivities = (
  services: Services,
  { transport, chat, startNotices }: OutboundDependencies,
  { patiently }: PatientDatabase,
  draining: AbortSignal,
): OutboundActivities => ({
  // It has no heartbeat and must not outlive its time: the engine repeats it.
  passConsentGate: (messageId) => passConsentGate(services, messageId, startNotices),
  attemptOutbound(messageId) {
    const control = roundControl(draining);
    return patiently(() => attemptMessage(services, transport, messageId, control), control.heartbeat);
  },
  cancelOutbound(messageId) {
    const { heartbeat } = roundControl(draining);
    return patiently(() => cancelMessage(services, messageId), heartbeat);
  },
  sendMemberNotice(noticeId) {
    const control = roundControl(draining);
    return patiently(() => sendMemberNotice(services, { transport, chat }, noticeId, control), control.heartbeat);
  },
});

function roundControl(draining: AbortSignal): RoundControl {
  const context = Context.current();
  return {
    heartbeat: () => context.heartbeat(),
    mayBegin: () => !draining.aborted && !context.cancellationSignal.aborted,
  };
}
