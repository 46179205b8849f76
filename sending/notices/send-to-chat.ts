/** Sends a notice to the chat webhook of a member: one request, guarded as those of webhook endpoints are. */

import { chatUrlPlace } from '#core/accounts/notice-settings.ts';
import { publicAddress } from '#core/platform/addresses/public-address.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { dropNotice, findApprovalNotice, findChatTarget } from '#db/queries/notices/approval-notices.ts';
import type { MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { oneLine } from '#domain/mail/one-line.ts';
import { isApprovalNotice } from '#domain/sending/approval-notices.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import type { RecipientResult } from '#sending/transports/transport.ts';
import { closedConsents } from './approval-mail.ts';
import { approvalChatMessage, chatBody, chatTestMessage } from './chat-message.ts';

/** These may pass; every other answer but a success is final. */
const isTemporary = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** @returns undefined: there is nothing to report, or no recipient any more, and the notice is deleted */
export async function sendToChat(
  services: SendingServices,
  chat: Pick<WebhookSender, 'send'>,
  notice: MemberNoticeRow,
): Promise<Pick<RecipientResult, 'kind' | 'reply'> | undefined> {
  const { db, secrets } = services;
  const { kind } = notice;
  const about = isApprovalNotice(kind) ? await findApprovalNotice(db, notice.id) : { memberId: notice.targetId };
  const target = about === undefined ? undefined : await findChatTarget(db, about.memberId);
  const consents =
    target === undefined || !isApprovalNotice(kind) ? [] : await closedConsents(services, notice.id, kind);
  if (target === undefined || (isApprovalNotice(kind) && consents.length === 0)) {
    await dropNotice(db, notice.id);
    return undefined;
  }
  const publicUrl = await publicAddress(services);
  const message = isApprovalNotice(kind) ? approvalChatMessage(kind, consents, publicUrl) : chatTestMessage(publicUrl);
  const result = await chat.send({
    deliveryId: notice.id,
    url: secrets.open(target.urlSealed, chatUrlPlace(target.memberId)),
    eventType: kind,
    payload: chatBody(target.form, message),
    signer: null,
    authHeader: undefined,
  });
  if (result.error === null) return { kind: 'sent', reply: `answered ${result.responseCode}` };
  const reply = oneLine(result.message ?? result.error);
  const final =
    result.error === 'unsafe_destination' || (result.responseCode !== null && !isTemporary(result.responseCode));
  return { kind: final ? 'failed' : 'deferred', reply };
}
