/** Reads everything that a submission needs before its transaction begins. It writes nothing except the blob. */
import type { Sql } from '#db/database.ts';
import { CONSENT_EXPIRES_DAYS_DEFAULT } from '#domain/organizations/organization-limits.ts';
import { type HeldBecauseKind, OUTBOUND_CONSENT_DEFAULT } from '#domain/sending/consent.ts';
import { storeBlob } from '#mailstore/blobs/blob-store.ts';
import { findThreads, threadRefs } from '#mailstore/delivery/threads.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { evaluateReply } from '#sending/consent/earned-reply.ts';
import { recipientsToAsk } from '#sending/consent/recipients-to-ask.ts';
import { earlierCopy } from '#sending/outbox/earlier-copy.ts';
import { outsideOf } from '#sending/outbox/local-addresses.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import { type Answered, answeredByHeader, type SentDraft } from '#sending/outbox/own-mail.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import type { NumberedRecipient } from './check-submission.ts';
import type { Submission } from './submission.ts';

export interface SubmissionPlan {
  readonly submission: Submission;
  readonly sender: Sender;
  readonly read: ReadMessage;
  /** Of From, as text. */
  readonly from: string;
  readonly recipients: readonly NumberedRecipient[];
  /** Recipients that are no mailboxes of the organization. */
  readonly outside: readonly string[];
  /** Recipients that a person must approve, whatever the budgets say. */
  readonly toAsk: readonly string[];
  /** Why they must, if any must. */
  readonly heldBecause: HeldBecauseKind;
  /** The thread it answers in, if it does. */
  readonly threadId: string | null;
  readonly answers: Answered | null;
  readonly draft: SentDraft;
  /** Of the copy in Sent that a client filed itself, if there is one. */
  readonly copyId: string | undefined;
  /** Of its bytes, which are stored already. */
  readonly blob: Buffer;
  readonly contentHash: Buffer;
  readonly now: Date;
  /** When the request for consent would expire. */
  readonly expiresAt: Date;
}

const DAY_MS = 86_400_000;

export async function planSubmission(
  services: SendingServices,
  known: Pick<SubmissionPlan, 'submission' | 'sender' | 'read' | 'from' | 'recipients' | 'threadId' | 'now'>,
): Promise<SubmissionPlan> {
  const { db } = services;
  const { submission, sender, read, recipients, threadId, now } = known;
  const { bytes, messageId: messageIdHeader, hash } = submission.prepared;
  const [outside, answers, copy] = await db.together((sql) =>
    Promise.all([
      outsideOf(services, sender, recipients, sql),
      submission.answers ?? answeredByHeader(sql, sender.mailbox.id, threadId, bytes),
      earlierCopy(sql, sender.mailbox.id, messageIdHeader, now),
      storeBlob(sql, hash.key, bytes),
    ]),
  );
  const mode = sender.settings.outboundConsent ?? OUTBOUND_CONSENT_DEFAULT;
  const strangers = await recipientsToAsk(db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    mode,
    addresses: outside,
  });
  const isFirstContact = mode === 'first_contact' && strangers.length > 0;
  const reply = isFirstContact
    ? await evaluateReply(db, {
        sender,
        bytes,
        read,
        recipients: submission.recipients,
        threadId,
        answers: submission.answers ?? null,
        copyIds: copy === undefined ? [] : [copy.id],
        mustBeApproved: sender.settings.repliesNeedApproval ?? false,
      })
    : 'first_contact';
  const expiresInDays = sender.settings.consentExpiresInDays ?? CONSENT_EXPIRES_DAYS_DEFAULT;
  return {
    ...known,
    outside,
    toAsk: reply === 'earned' ? [] : strangers,
    heldBecause: mode === 'always' ? mode : reply === 'earned' ? 'first_contact' : reply,
    answers,
    copyId: copy?.id,
    draft: { messageIdHeader, messageId: submission.draftMessageId ?? null },
    blob: hash.key,
    contentHash: hash.contentHash(submission.recipients),
    expiresAt: new Date(now.getTime() + expiresInDays * DAY_MS),
  };
}

/** The thread of the mailbox that a message answers in, or null. */
export async function answeredThread(sql: Sql, sender: Sender, read: ReadMessage): Promise<string | null> {
  const refs = threadRefs(read, read.to[0]?.address ?? '');
  const { ids, threadIds } = await findThreads(sql, [{ mailboxId: sender.mailbox.id, refs }]);
  const [threadId] = threadIds;
  // All its references would lead to a new thread.
  return threadId === undefined || ids.length === refs.ids.length ? null : threadId;
}
