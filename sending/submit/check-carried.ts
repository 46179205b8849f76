/**
 * What a message carries, before it is queued: credentials of this service are refused; passages of other mail are held for
 * a person or refused, as `carriedMail` says; links that could carry something are held (`check-links.ts`).
 */
import { CatalogueError } from '#domain/errors.ts';
import { placeOf } from '#mailstore/carried/carried-mail.ts';
import { outgoingDocumentTexts } from '#mailstore/carried/document-texts.ts';
import { attachmentDigests } from '#mime/attachments.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { canaryIn, stopForCanary } from '#sending/canaries/canary-sent.ts';
import { outgoingTexts, withDocuments } from '#sending/carried/carried-texts.ts';
import { findCarried, type OutgoingFile } from '#sending/carried/find-carried.ts';
import { carriesCredential, credentialRefused } from '#sending/carried/own-credentials.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import { checkLinks } from './check-links.ts';
import { brakeOn, type Refusal, type SubmissionPlan } from './plan-submission.ts';

/** The plan, with a request for consent if a person must look; or why the message is refused. */
export async function checkCarried(services: SendingServices, plan: SubmissionPlan): Promise<SubmissionPlan | Refusal> {
  const { submission, sender, read, outside, threadId, now } = plan;
  const { bytes } = submission.prepared;
  const texts = withDocuments(
    outgoingTexts(bytes, read, submission.recipients),
    await outgoingDocumentTexts(bytes, read, sender.mailbox.id),
  );
  if (await carriesCredential(bytes, read, texts)) return { error: credentialRefused(), reason: 'carries_credential' };
  if (outside.length > 0 && sender.organizationHasCanaries && submission.actor.type !== 'user') {
    const plantedIn = await canaryIn(services.db, sender.organization.id, texts);
    if (plantedIn !== undefined) {
      await stopForCanary(services, sender, { recipients: submission.recipients, plantedIn });
      return brakeOn({ ...sender, brakes: { ...sender.brakes, mode: 'stopped' } }, submission.actor) ?? plan;
    }
  }
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
  if (carried.length === 0 && !texts.cut && !cut && read.attachments.length <= FILES_COMPARED_MAX)
    return checkLinks(services, plan, texts);
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
  return checkLinks(
    services,
    { ...plan, toAsk, heldBecause: 'carries_other_mail', carried, decidedAlone: true },
    texts,
  );
}

const FILES_COMPARED_MAX = 100;

const filesOf = (bytes: Buffer, { parts, attachments }: ReadMessage): OutgoingFile[] =>
  attachments
    .slice(0, FILES_COMPARED_MAX)
    .flatMap((info) =>
      attachmentDigests(bytes, parts, [info]).map((digest) => ({ name: info.filename ?? info.contentType, digest })),
    );
