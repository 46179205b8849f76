/** The history of a message as entries of a timeline: how it was received, where it is, how it was sent. */
import type {
  ConsentOfMessageRow,
  RecipientRow,
  SendAttemptRow,
  StoredRow,
  SubmittedRow,
} from '#db/queries/events/activity-timeline.ts';
import type { AttemptOutcome, RecipientStatus } from '#domain/sending/outbound.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { type ActivityEntry, type ActivityOutcome, BARE_ENTRY } from '#domain/webhooks/activity.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

const nameOf = (actor: Actor): string =>
  actor.type === 'system' ? 'the service' : (actor.name ?? actor.email ?? actor.address ?? actor.type);

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

/** The host that sent the message, from the Received field of this server (RFC 5321 §4.4). */
function handedOverBy(head: Buffer): string | undefined {
  const [, helo, address] =
    /^Received: from (\S{1,255}) \(\[(?:IPv6:)?([0-9a-f.:]+)\]\)/im.exec(head.toString('latin1')) ?? [];
  if (helo === undefined || address === undefined) return undefined;
  return helo.includes(address) ? address : `${helo} (${address})`;
}

const HOW: Readonly<Record<Exclude<StoredRow['origin'], 'smtp' | 'submission'>, string>> = {
  local: 'Delivered within the service',
  append: 'Stored by a mail client',
  draft: 'Saved as a draft',
  system: 'Written by the service',
};

/** @param mailbox address of the mailbox */
export function storedEntries(
  stored: StoredRow,
  message: { readonly id: string; readonly mailbox: string },
): ActivityEntry[] {
  const { origin, auth, envelopeFrom, deliveredTo, receivedAt, folders } = stored;
  const bare = { ...BARE_ENTRY, at: receivedAt, messageId: message.id };
  const entries: ActivityEntry[] = [];
  const sender = envelopeFrom === null || envelopeFrom === '' ? '' : ` from ${envelopeFrom}`;
  const recipient = deliveredTo === null ? '' : ` for ${deliveredTo}`;
  if (origin === 'smtp') {
    const host = handedOverBy(stored.head);
    const verdicts =
      auth === null ? '' : `SPF ${auth.spf.result} · DKIM ${auth.dkim.result} · DMARC ${auth.dmarc.result}`;
    entries.push({
      ...bare,
      kind: 'accepted',
      outcome: 'ok',
      text: `Accepted by SMTP${host === undefined ? '' : ` from ${host}`}${recipient}`,
      detail:
        [verdicts, sender === '' ? '' : `envelope sender${sender.slice(' from'.length)}`].filter(Boolean).join(' · ') ||
        null,
    });
  } else if (origin !== 'submission')
    entries.push({ ...bare, kind: 'accepted', outcome: 'ok', text: `${HOW[origin]}${sender}${recipient}` });
  entries.push({
    ...bare,
    kind: 'stored',
    outcome: folders.length === 0 ? 'none' : 'ok',
    text:
      folders.length === 0
        ? `Stored in ${message.mailbox}, and removed since`
        : `Stored in ${folders.join(', ')} of ${message.mailbox}`,
  });
  return entries;
}

export interface SendingRows {
  readonly submitted: SubmittedRow;
  readonly recipients: readonly RecipientRow[];
  readonly attempts: readonly SendAttemptRow[];
  readonly consents: readonly ConsentOfMessageRow[];
}

/** The steps of sending a message: from its submission to the outcome for each recipient. */
export function sendingEntries(messageId: string, rows: SendingRows): ActivityEntry[] {
  const { submitted, recipients, attempts, consents } = rows;
  const workflowId = outboundWorkflowId(messageId);
  const bare = { ...BARE_ENTRY, messageId, workflowId };
  const entries: ActivityEntry[] = [
    {
      ...bare,
      at: submitted.submittedAt,
      kind: 'submitted',
      outcome: 'ok',
      text: `Submitted by ${nameOf(submitted.actor)} through ${submitted.via === 'api' ? 'the API' : 'SMTP'} to ${counted(recipients.length, 'recipient', 'recipients')}`,
      detail: recipients.map(({ address }) => address).join(', ') || null,
    },
  ];
  for (const consent of consents) entries.push(...consentEntries(consent, messageId, workflowId));
  if (submitted.state === 'scheduled')
    entries.push({
      ...bare,
      at: null,
      kind: 'scheduled',
      outcome: 'waiting',
      text: 'Is sent',
      dueAt: submitted.sendAt,
    });
  for (const attempt of attempts) entries.push({ ...bare, ...sendAttempt(attempt) });
  const attempted = new Set(
    attempts.filter(({ outcome }) => outcome === 'sent' || outcome === 'captured').flatMap((each) => each.recipients),
  );
  for (const recipient of recipients) {
    // The attempt says it already.
    if (attempted.has(recipient.address) && (recipient.status === 'sent' || recipient.status === 'captured')) continue;
    const isOpen = recipient.status === 'queued' || recipient.status === 'sending';
    // For a held or scheduled message, its own entry says what it waits for.
    if (isOpen && submitted.state !== 'sending') continue;
    entries.push({ ...bare, ...recipientEntry(recipient, isOpen) });
  }
  return entries;
}

function consentEntries(consent: ConsentOfMessageRow, messageId: string, workflowId: string): ActivityEntry[] {
  const bare = { ...BARE_ENTRY, messageId, workflowId, consentId: consent.id };
  const held: ActivityEntry = {
    ...bare,
    at: consent.createdAt,
    kind: 'held',
    outcome: 'waiting',
    text: `Held for approval: ${consent.recipients.join(', ')}`,
  };
  if (consent.decidedAt === null || consent.decidedBy === null)
    return [
      held,
      {
        ...bare,
        at: null,
        kind: 'decided',
        outcome: 'waiting',
        text: 'Expires without a decision',
        dueAt: consent.expiresAt,
      },
    ];
  const isApproved = consent.status === 'approved';
  const expired = !isApproved && consent.decidedBy.type === 'system' && consent.decidedAt >= consent.expiresAt;
  return [
    held,
    {
      ...bare,
      at: consent.decidedAt,
      kind: 'decided',
      outcome: isApproved ? 'ok' : 'failed',
      text: expired
        ? 'Expired without a decision'
        : `${isApproved ? 'Approved' : 'Denied'} by ${nameOf(consent.decidedBy)}`,
      detail: isApproved ? `for this ${consent.scope ?? 'message'}` : consent.reason,
    },
  ];
}

const ATTEMPT_OUTCOMES: Readonly<Record<AttemptOutcome, ActivityOutcome>> = {
  sent: 'ok',
  captured: 'ok',
  partial: 'waiting',
  deferred: 'waiting',
  failed: 'failed',
};

function sendAttempt(attempt: SendAttemptRow) {
  const { destination, number, transport, startedAt, finishedAt, outcome, reply } = attempt;
  const took = finishedAt === null ? '' : ` in ${finishedAt.getTime() - startedAt.getTime()} ms`;
  return {
    at: startedAt,
    kind: 'send_attempt',
    outcome: outcome === null ? 'waiting' : ATTEMPT_OUTCOMES[outcome],
    text: `→ ${destination} ${outcome ?? 'in flight'}${took}`,
    detail: [`attempt ${number} by ${transport}`, attempt.recipients.join(', '), reply ?? '']
      .filter(Boolean)
      .join(' · '),
  } as const;
}

const RECIPIENT_OUTCOMES: Readonly<Record<RecipientStatus, ActivityOutcome>> = {
  queued: 'waiting',
  sending: 'waiting',
  sent: 'ok',
  captured: 'ok',
  bounced: 'failed',
  suppressed: 'failed',
  denied: 'failed',
};

const recipientEntry = (
  { address, local, status, reply, code, nextAttemptAt, updatedAt }: RecipientRow,
  isOpen: boolean,
) =>
  ({
    at: isOpen ? null : updatedAt,
    kind: 'recipient',
    outcome: RECIPIENT_OUTCOMES[status],
    text: `${address} ${local && status === 'sent' ? 'delivered within the service' : status}`,
    detail: [code ?? '', reply ?? ''].filter(Boolean).join(' · ') || null,
    dueAt: isOpen ? nextAttemptAt : null,
  }) as const;
