/** The effects of sending, see `workflows/outbound-message.ts`. */
import { Context } from '@temporalio/activity';
import type { Services } from '../core/services.ts';
import type { MemberNoticeProgress } from '../domain/member-notices.ts';
import type { GateResult, OutboundProgress } from '../domain/outbound-workflow.ts';
import { attemptMessage, cancelMessage } from '../mail/outbound/attempt-message.ts';
import { passConsentGate } from '../mail/outbound/consent-gate.ts';
import { sendMemberNotice } from '../mail/outbound/send-member-notice.ts';
import type { Transport } from '../mail/outbound/transport.ts';

export interface OutboundActivities {
  passConsentGate(messageId: string): Promise<GateResult>;
  attemptOutbound(messageId: string): Promise<OutboundProgress>;
  cancelOutbound(messageId: string): Promise<void>;
  sendMemberNotice(noticeId: string): Promise<MemberNoticeProgress>;
}

export const outboundActivities = (services: Services, transport: Transport): OutboundActivities => ({
  passConsentGate: (messageId) => passConsentGate(services, messageId),
  attemptOutbound(messageId) {
    const context = Context.current();
    const control = { heartbeat: () => context.heartbeat(), signal: context.cancellationSignal };
    return attemptMessage(services, transport, messageId, control);
  },
  cancelOutbound: (messageId) => cancelMessage(services, messageId),
  sendMemberNotice(noticeId) {
    const context = Context.current();
    return sendMemberNotice(services, transport, noticeId, () => context.heartbeat());
  },
});
