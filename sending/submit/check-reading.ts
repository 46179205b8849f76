/**
 * Whether a message is asked about because its agent read mail of an unknown sender before. It may answer one of these
 * senders, and people who earned a reply; a message to anybody else, or to several, waits for a person.
 */
import { placeOf } from '#mailstore/carried/carried-mail.ts';
import { unknownSendersRead } from '#sending/consent/unknown-senders-read.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { SubmissionPlan } from './plan-submission.ts';

export async function checkReading(services: SendingServices, plan: SubmissionPlan): Promise<SubmissionPlan> {
  const { submission, sender, outside, now } = plan;
  const minutes = sender.askAfterReadingMinutes;
  // What a person writes was not told to an agent by a mail; what stays within the organization leaves nothing.
  if (minutes === 0 || submission.actor.type === 'user' || outside.length === 0 || plan.earned) return plan;
  const unknownSenders = await unknownSendersRead(services.db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    keyId: submission.actor.type === 'api_key' ? submission.actor.id : null,
    minutes,
    now,
  });
  const [recipient = '', ...others] = [...new Set(outside.map(placeOf))];
  const isAnswer = others.length === 0 && unknownSenders.some(({ address }) => address === recipient);
  if (unknownSenders.length === 0 || isAnswer) return plan;
  return {
    ...plan,
    toAsk: [...new Set([...plan.toAsk, ...outside.map(placeOf)])].sort(),
    // What the message itself has says more than what was read before.
    heldBecause: plan.decidedAlone ? plan.heldBecause : 'unknown_sender_read',
    details: { ...plan.details, unknownSenders },
    decidedAlone: true,
  };
}
