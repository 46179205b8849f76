/** Whether a message is held for links whose addresses could carry something away: for a person alone can tell. */
import { LINKS_SHOWN_MAX } from '#domain/sending/carried-mail.ts';
import { placeOf } from '#mailstore/carried/carried-mail.ts';
import type { OutgoingTexts } from '#sending/carried/carried-texts.ts';
import { opaqueLinksSent } from '#sending/carried/opaque-links-sent.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { SubmissionPlan } from './plan-submission.ts';

/** @param texts of the message; the mode is not `off`, and somebody outside gets it */
export async function checkLinks(
  services: SendingServices,
  plan: SubmissionPlan,
  texts: OutgoingTexts,
): Promise<SubmissionPlan> {
  const { sender, outside, threadId } = plan;
  const links = await opaqueLinksSent(services.db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    threadId,
    texts,
  });
  if (links.length === 0) return plan;
  return {
    ...plan,
    toAsk: [...new Set([...plan.toAsk, ...outside.map(placeOf)])].sort(),
    heldBecause: plan.heldBecause === 'carries_other_mail' ? plan.heldBecause : 'opaque_links',
    details: { ...plan.details, links: links.slice(0, LINKS_SHOWN_MAX).map(({ url }) => url) },
    decidedAlone: true,
  };
}
