/**
 * Sends a notice of the service to an owner or admin: into the INBOX of a mailbox here, otherwise by the transport,
 * signed with the key of the instance, from the null sender, so that nothing answers it.
 */
import { findMemberNotice, type MemberNoticeRow, recordNoticeAttempt } from '../../db/queries/member-notices.ts';
import { domainOf } from '../../domain/email-address.ts';
import { SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import type { MemberNoticeProgress, MemberNoticeState } from '../../domain/member-notices.ts';
import { OUTBOUND_GIVE_UP_MS, OUTBOUND_RETRY_DELAYS_MS, retryDelayMs } from '../../domain/outbound.ts';
import { readMessage } from '../mime/read-message.ts';
import { deliverBatch } from '../store/deliver.ts';
import { receivedEvent } from '../store/received-event.ts';
import type { Recipient } from '../store/recipients.ts';
import { composeMessage } from './compose-message.ts';
import { directoryOf, newMessage, type SendingServices } from './deliver-here.ts';
import { signMessage } from './dkim.ts';
import { afterCommit } from './release-message.ts';
import type { RecipientResult, Transport } from './transport.ts';

const DONE: MemberNoticeProgress = { nextAtMs: null };
const HEARTBEAT_MS = 2_000;

const STATE_OF: Readonly<Record<Exclude<RecipientResult['kind'], 'deferred'>, MemberNoticeState>> = {
  sent: 'sent',
  captured: 'captured',
  failed: 'failed',
};

/** Attempts a notice that waits. @param heartbeat called while the other side is waited for */
export async function sendMemberNotice(
  services: SendingServices,
  transport: Transport,
  noticeId: string,
  heartbeat: () => void,
): Promise<MemberNoticeProgress> {
  const notice = await findMemberNotice(services.db, noticeId);
  if (notice === undefined || notice.state !== 'waiting') return DONE;
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  let result: Pick<RecipientResult, 'kind' | 'reply'>;
  try {
    result = await attempt(services, transport, notice);
  } finally {
    clearInterval(beat);
  }
  const now = new Date(services.now());
  const { kind, reply } = result;
  if (kind !== 'deferred') {
    await recordNoticeAttempt(services.db, noticeId, { state: STATE_OF[kind], reply, next: null, now });
    return DONE;
  }
  const ladder = services.settings.OUTBOUND_RETRY_DELAYS_MS;
  const delayMs = retryDelayMs(ladder.length > 0 ? ladder : OUTBOUND_RETRY_DELAYS_MS, notice.attempts + 1);
  const next = new Date(now.getTime() + delayMs);
  const over = next.getTime() > notice.createdAt.getTime() + OUTBOUND_GIVE_UP_MS;
  await recordNoticeAttempt(services.db, noticeId, {
    state: over ? 'failed' : 'waiting',
    reply,
    next: over ? null : next,
    now,
  });
  return over ? DONE : { nextAtMs: next.getTime() };
}

async function attempt(
  services: SendingServices,
  transport: Transport,
  notice: MemberNoticeRow,
): Promise<Pick<RecipientResult, 'kind' | 'reply'>> {
  const directory = directoryOf(services);
  const bytes = await compose(services, notice);
  if (await directory.servesDomain(domainOf(notice.recipient))) {
    const recipient = await directory.find(notice.recipient, 'fresh');
    if (recipient === undefined) return { kind: 'failed', reply: 'There is no such mailbox here' };
    return putIntoInbox(services, notice, recipient, bytes);
  }
  const domain = services.settings.MAIL_DOMAIN;
  const signature = await signMessage(
    services,
    { organization: { id: notice.organizationId }, mailbox: { domain } },
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
const compose = ({ settings }: SendingServices, { id, recipient, subject, text }: MemberNoticeRow): Promise<Buffer> =>
  composeMessage({
    from: { name: 'Agent Mailbox', address: `no-reply@${settings.MAIL_DOMAIN}` },
    to: [{ name: '', address: recipient }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject,
    text,
    html: undefined,
    attachments: [],
    headers: { 'Message-ID': `<${id}@${settings.MAIL_DOMAIN}>`, 'Auto-Submitted': 'auto-generated' },
    inReplyTo: undefined,
    references: [],
  });

/** Mail, state of the notice and events in one commit would need its lock; a crash in between puts it there twice. */
async function putIntoInbox(
  services: SendingServices,
  notice: MemberNoticeRow,
  recipient: Recipient,
  bytes: Buffer,
): Promise<Pick<RecipientResult, 'kind' | 'reply'>> {
  const message = newMessage({ bytes, read: readMessage(bytes) }, 'system', {
    correspondent: `no-reply@${services.settings.MAIL_DOMAIN}`,
    envelopeFrom: '',
    at: new Date(services.now()),
    auth: null,
  });
  const { outcomes, owed } = await services.db.transaction((sql) =>
    deliverBatch(sql, [
      {
        message,
        deliveries: [
          {
            recipient,
            deliveredTo: notice.recipient,
            folderId: recipient.inboxId,
            labels: [],
            deliveryHash: undefined,
          },
        ],
        event: (delivery, messageId, threadId) => ({
          ...receivedEvent(message, delivery, messageId, threadId),
          actor: SYSTEM_ACTOR,
        }),
      },
    ]),
  );
  const [outcome] = outcomes;
  if (outcome?.kind !== 'delivered') return { kind: 'deferred', reply: `The mailbox takes no mail: ${outcome?.kind}` };
  afterCommit(services, { folderIds: [recipient.inboxId], owed });
  return { kind: 'sent', reply: 'delivered here' };
}
