import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { Static } from 'typebox';
import { presentAttachment } from '#api/messages/present.ts';
import { heldBecauseSentence } from '#domain/sending/consent.ts';
import type { StoredMessage } from '#mailstore/messages/read-messages.ts';
import type { HeldAnswer, HeldMessage } from '#sending/consent/held-message.ts';
import type { WrittenBefore } from '#sending/consent/recipients-to-ask.ts';
import type { ConsentMessage } from './message-schema.ts';
import { presentConsent } from './present.ts';

export function presentHeldMessage(held: HeldMessage): Static<typeof ConsentMessage> {
  const { consent, message } = held;
  return {
    consent: presentConsent(consent),
    mailbox: { ...held.mailbox },
    heldBecause: {
      kind: consent.heldBecause,
      sentence: heldBecauseSentence(consent.heldBecause, consent.recipients),
      recipients: [...consent.recipients],
    },
    from: held.from === null ? null : formatAddress(held.from),
    to: held.to.map(formatAddress),
    cc: held.cc.map(formatAddress),
    bcc: held.recipients.filter(({ as }) => as === 'bcc').map(({ address }) => address),
    replyTo: held.replyTo.map(formatAddress),
    recipients: held.recipients.map(({ address, as, asked, status, history }) => ({
      address,
      as,
      asked,
      status,
      domain: history.domain,
      toAddress: presentWritten(history.toAddress),
      toDomain: presentWritten(history.toDomain),
    })),
    subject: held.subject,
    text: held.text,
    html: held.html,
    textOfHtml: held.textOfHtml,
    textAndHtml:
      held.textAndHtml === null
        ? null
        : {
            onlyInText: [...held.textAndHtml.onlyInText],
            onlyInHtml: [...held.textAndHtml.onlyInHtml],
            linksOnlyInText: [...held.textAndHtml.linksOnlyInText],
            linksOnlyInHtml: [...held.textAndHtml.linksOnlyInHtml],
            complete: held.textAndHtml.complete,
          },
    truncated: held.truncated,
    attachments: held.attachments.map(presentAttachment),
    answers: held.answers === null ? null : presentAnswer(held.answers),
    submittedAt: message.submittedAt.toISOString(),
    sendAt: message.sendAt?.toISOString() ?? null,
    sizeBytes: message.size,
    sha256: consent.contentHash.toString('hex'),
    hashMatches: held.hashMatches,
  };
}

const presentWritten = ({ count, newest }: WrittenBefore) => ({
  count,
  newest: newest.map((each) => ({ ...each, sentAt: each.sentAt.toISOString() })),
});

const presentAnswer = ({ threadId, as, message, earlier }: HeldAnswer) => ({
  threadId,
  as,
  message: message === null ? null : { ...presentThreadMessage(message), text: message.text },
  earlier: earlier.map(presentThreadMessage),
});

const presentThreadMessage = ({ id, from: [from], subject, preview, receivedAt }: StoredMessage) => ({
  id,
  from: from === undefined ? null : formatAddress(from),
  subject,
  preview,
  date: receivedAt.toISOString(),
});
