/**
 * Sends a notice of the service to a person: into the INBOX of a mailbox here, otherwise by the transport,
 * signed with the key of the instance, from the null sender, so that nothing answers it.
 */

import { noticeCredentialPlace } from '#core/accounts/invitations.ts';
import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { approvalNoticeSeconds, noticesTotal } from '#core/platform/log/metrics.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { findRoleMail } from '#db/queries/mailboxes/role-mail.ts';
import { postponeNotice, quietHoursOf } from '#db/queries/notices/desk-notices.ts';
import {
  beginNoticeAttempt,
  findMemberNotice,
  type MemberNoticeRow,
  openInvitationCredential,
  recordNoticeAttempt,
} from '#db/queries/notices/member-notices.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import {
  CREDENTIAL_PLACE,
  type MemberNoticeProgress,
  type MemberNoticeState,
} from '#domain/organizations/member-notices.ts';
import { isApprovalNotice } from '#domain/sending/approval-notices.ts';
import { isDeskNotice, quietUntilMs } from '#domain/sending/desk-notices.ts';
import { OUTBOUND_GIVE_UP_MS, OUTBOUND_RETRY_DELAYS_MS, retryDelayMs } from '#domain/sending/outbound.ts';
import type { Recipient } from '#mailstore/delivery/recipients.ts';
import type { RoundControl } from '#sending/attempt/attempt-message.ts';
import { composeMessage } from '#sending/compose/compose-message.ts';
import { putSystemMail } from '#sending/local-delivery/system-mail.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import { recordingWorks, untilRecorded } from '#sending/outbox/until-recorded.ts';
import { signMessage } from '#sending/transports/dkim.ts';
import type { RecipientResult, Transport } from '#sending/transports/transport.ts';
import { dueAtMs, type WrittenNotice, writeApprovalMail } from './approval-mail.ts';
import { sendToChat } from './chat-message.ts';
import { writeDeskMail } from './desk-mail.ts';
import { writePasswordResetMail } from './password-reset-mail.ts';

const DONE: MemberNoticeProgress = { nextAtMs: null };
const HEARTBEAT_MS = 2_000;

const STATE_OF: Readonly<Record<Exclude<RecipientResult['kind'], 'deferred'>, MemberNoticeState>> = {
  sent: 'sent',
  captured: 'captured',
  failed: 'failed',
};

/** By which notices leave. */
interface NoticeSenders {
  readonly transport: Transport;
  readonly chat: Pick<WebhookSender, 'send'>;
}

/** Attempts a notice that waits. */
export async function sendMemberNotice(
  services: SendingServices,
  senders: NoticeSenders,
  noticeId: string,
  { heartbeat, mayBegin }: RoundControl,
): Promise<MemberNoticeProgress> {
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    return await attemptNotice(services, senders, noticeId, mayBegin);
  } finally {
    clearInterval(beat);
  }
}

async function attemptNotice(
  services: SendingServices,
  senders: NoticeSenders,
  noticeId: string,
  mayBegin: () => boolean,
): Promise<MemberNoticeProgress> {
  const notice = await findMemberNotice(services.db, noticeId);
  if (notice === undefined || notice.state !== 'waiting') return DONE;
  const dueMs = isApprovalNotice(notice.kind) ? await dueAtMs(services, noticeId) : undefined;
  if (dueMs !== undefined && dueMs > services.now()) return { nextAtMs: dueMs };
  const quietMs = await quietUntil(services, notice);
  if (quietMs !== undefined) return { nextAtMs: quietMs };
  if (!(await recordingWorks(services, mayBegin))) return { nextAtMs: services.now() };
  // A write: if it fails, the outcome could not be recorded either, so nothing is sent.
  if (!(await beginNoticeAttempt(services.db, notice, new Date(services.now())))) return DONE;
  const result = await attempt(services, senders, notice);
  if (result === DROPPED) return DONE;
  const { kind, reply, recorded = false } = result;
  noticesTotal.inc({ outcome: kind });
  if (dueMs !== undefined && (kind === 'sent' || kind === 'captured'))
    approvalNoticeSeconds.observe(Math.max(0, services.now() - dueMs) / 1_000);
  if (recorded) return DONE;
  const now = new Date(services.now());
  if (kind !== 'deferred') {
    const outcome = { state: STATE_OF[kind], reply, next: null, now };
    await untilRecorded(services, () => recordNoticeAttempt(services.db, notice, outcome));
    return DONE;
  }
  const ladder = services.settings.OUTBOUND_RETRY_DELAYS_MS;
  const delayMs = retryDelayMs(ladder.length > 0 ? ladder : OUTBOUND_RETRY_DELAYS_MS, notice.attempts + 1);
  const next = new Date(now.getTime() + delayMs);
  const over = next.getTime() > notice.createdAt.getTime() + OUTBOUND_GIVE_UP_MS;
  const outcome = { state: over ? ('failed' as const) : ('waiting' as const), reply, next: over ? null : next, now };
  await untilRecorded(services, () => recordNoticeAttempt(services.db, notice, outcome));
  return over ? DONE : { nextAtMs: next.getTime() };
}

/**
 * Mail about held mail waits for the end of the member's quiet hours, and collects more until then. Chats are not for one
 * person, and go on.
 */
async function quietUntil({ db, now }: SendingServices, notice: MemberNoticeRow): Promise<number | undefined> {
  const { id, kind, channel } = notice;
  if (channel !== 'mail' || !(isApprovalNotice(kind) || isDeskNotice(kind))) return undefined;
  const untilMs = quietUntilMs((await quietHoursOf(db, id)) ?? null, now());
  if (untilMs !== undefined) await postponeNotice(db, id, new Date(untilMs));
  return untilMs;
}

interface NoticeResult extends Pick<RecipientResult, 'kind' | 'reply'> {
  /** It was written in the transaction of its subject. */
  readonly recorded?: boolean;
}

/** The owner of a first start has such an address. */
const NOBODY_HERE = 'Not sent: this address has no mailbox here. It can be read in the list of notices';

/** There is nothing to report any more, and the notice was deleted. */
const DROPPED: NoticeResult = { kind: 'failed', reply: '', recorded: true };

async function attempt(
  services: SendingServices,
  { transport, chat }: NoticeSenders,
  notice: MemberNoticeRow,
): Promise<NoticeResult> {
  const { kind } = notice;
  if (kind === 'invitation') return attemptInvitation(services, transport, notice);
  if (notice.channel === 'chat') return (await sendToChat(services, chat, notice)) ?? DROPPED;
  if (isApprovalNotice(kind) || isDeskNotice(kind) || kind === 'password_reset') {
    const written = isApprovalNotice(kind)
      ? await writeApprovalMail(services, notice, kind)
      : isDeskNotice(kind)
        ? await writeDeskMail(services, notice, kind)
        : await writePasswordResetMail(services, notice);
    if (written === undefined) return DROPPED;
    const texted = { ...notice, ...written };
    // A notice with a credential is never put into a mailbox of this instance, whatever the domain of its address.
    if (written.holdsCredential) return sendOut(services, transport, texted, await compose(services, texted));
    return deliver(services, transport, texted);
  }
  return deliver(services, transport, notice);
}

/** A notice as it is sent. */
type ComposedNotice = MemberNoticeRow & Pick<WrittenNotice, 'html'>;

/** Sends a notice without a credential: into the INBOX of a mailbox here, or by the transport. */
async function deliver(services: SendingServices, transport: Transport, notice: ComposedNotice): Promise<NoticeResult> {
  const directory = directoryOf(services);
  const bytes = await compose(services, notice);
  if (await directory.servesDomain(domainOf(notice.recipient))) {
    const recipient = await directory.find(notice.recipient, 'fresh');
    if (recipient === undefined) return { kind: 'captured', reply: NOBODY_HERE };
    return putIntoInbox(services, notice, recipient, bytes);
  }
  return sendOut(services, transport, notice, bytes);
}

/**
 * An invitation is never sent to a mailbox of this instance: an agent that reads it would become a member. The domain
 * may have become one of ours since the invitation was written.
 */
async function attemptInvitation(
  services: SendingServices,
  transport: Transport,
  notice: MemberNoticeRow,
): Promise<Pick<RecipientResult, 'kind' | 'reply'>> {
  const { db, secrets, settings } = services;
  const sealed = await openInvitationCredential(db, notice.id, new Date(services.now()));
  if (sealed === undefined) return { kind: 'failed', reply: 'The invitation was withdrawn, replaced, used or expired' };
  if (await isHostedAddress(db, settings.MAIL_DOMAIN, [notice.organizationId ?? ''], notice.recipient))
    return { kind: 'failed', reply: 'The address is hosted by this service: invite again, and hand the link over' };
  const token = secrets.open(sealed, noticeCredentialPlace(notice.id));
  const text = notice.text.replaceAll(CREDENTIAL_PLACE, () => token);
  return sendOut(services, transport, notice, await compose(services, { ...notice, text }));
}

async function sendOut(
  services: SendingServices,
  transport: Transport,
  notice: MemberNoticeRow,
  bytes: Buffer,
): Promise<Pick<RecipientResult, 'kind' | 'reply'>> {
  const domain = services.settings.MAIL_DOMAIN;
  const signature = await signMessage(
    services,
    { organization: { id: notice.organizationId ?? '' }, mailbox: { domain } },
    bytes,
  );
  const [result] = await transport.send({
    sender: '',
    recipients: [notice.recipient],
    bytes: Buffer.concat([Buffer.from(signature), bytes]),
  });
  return result ?? { kind: 'deferred', reply: 'no answer for this recipient' };
}

/** The same Message-ID at every attempt, so that one that was repeated is seen as the same mail. */
async function compose(
  { db, settings }: SendingServices,
  { id, kind, targetId, recipient, subject, text, html }: ComposedNotice,
): Promise<Buffer> {
  // As a file, in base64: untrusted text cannot be taken for a part of the notice, and arrives byte for byte.
  const content = kind === 'role_mail' ? await findRoleMail(db, targetId) : undefined;
  const attachments =
    content === undefined
      ? []
      : [{ filename: 'message.eml', contentType: 'application/octet-stream', content, contentId: undefined }];
  return composeMessage({
    from: { name: 'Agent Mailbox', address: `no-reply@${settings.MAIL_DOMAIN}` },
    to: [{ name: '', address: recipient }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject,
    text,
    html,
    attachments,
    headers: { 'Message-ID': `<${id}@${settings.MAIL_DOMAIN}>`, 'Auto-Submitted': 'auto-generated' },
    inReplyTo: undefined,
    references: [],
  });
}

/** Mail, its events and the state of the notice in one commit: repeated, it is there once. */
async function putIntoInbox(
  services: SendingServices,
  notice: MemberNoticeRow,
  recipient: Recipient,
  bytes: Buffer,
): Promise<NoticeResult> {
  const now = new Date(services.now());
  const reply = 'delivered here';
  const mail = { recipient, deliveredTo: notice.recipient, fromLocalPart: 'no-reply', bytes, hasEvent: true };
  const outcome = await putSystemMail(services, mail, (sql) =>
    recordNoticeAttempt(sql, notice, { state: 'sent', reply, next: null, now }),
  );
  if (outcome.kind !== 'delivered') return { kind: 'deferred', reply: `The mailbox takes no mail: ${outcome.kind}` };
  return { kind: 'sent', reply, recorded: true };
}
