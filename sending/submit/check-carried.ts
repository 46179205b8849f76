/**
 * What a message carries, before it is queued: credentials of this service are refused; passages of other mail are held for
 * a person or refused, as `settings.carriedMail` says.
 */
import { CatalogueError } from '#domain/errors.ts';
import { placeOf } from '#mailstore/carried/carried-mail.ts';
import { attachmentDigests } from '#mime/attachments.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { outgoingTexts } from '#sending/carried/carried-texts.ts';
import { findCarried, type OutgoingFile } from '#sending/carried/find-carried.ts';
import { carriesCredential, credentialRefused } from '#sending/carried/own-credentials.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { Refusal, SubmissionPlan } from './plan-submission.ts';

/** The plan, with a request for consent if a person must look; or why the message is refused. */
export async function checkCarried(services: SendingServices, plan: SubmissionPlan): Promise<SubmissionPlan | Refusal> {
  const { submission, sender, read, outside, threadId, now } = plan;
  const { bytes } = submission.prepared;
  const texts = outgoingTexts(bytes, read);
  if (await carriesCredential(bytes, read, texts)) return { error: credentialRefused(), reason: 'carries_credential' };
  const mode = sender.carriedMail;
  // What stays within the organization leaves nothing.
  if (mode === 'off' || outside.length === 0) return plan;
  const { sources: carried, cut } = await findCarried(services.db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    threadId,
    outside,
    texts,
    files: filesOf(bytes, read),
    now,
  });
  if (carried.length === 0 && !texts.cut && !cut && read.attachments.length <= FILES_COMPARED_MAX) return plan;
  if (mode === 'refuse' && carried.length > 0)
    return {
      error: new CatalogueError(
        'content_refused',
        'The message carries text or files of other mail, which its recipients neither wrote nor got. Nothing was sent.',
        { fix: 'Write the message in own words, without what others wrote.' },
      ),
      reason: 'carries_other_mail',
    };
  const toAsk = [...new Set([...plan.toAsk, ...outside.map(placeOf)])].sort();
  return { ...plan, toAsk, heldBecause: 'carries_other_mail', carried, decidedAlone: true };
}

const FILES_COMPARED_MAX = 100;

const filesOf = (bytes: Buffer, { parts, attachments }: ReadMessage): OutgoingFile[] =>
  attachments
    .slice(0, FILES_COMPARED_MAX)
    .flatMap((info) =>
      attachmentDigests(bytes, parts, [info]).map((digest) => ({ name: info.filename ?? info.contentType, digest })),
    );
