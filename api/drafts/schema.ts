import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import Type from 'typebox';
import { closed, dateTime, listOf, MessageId, nullable, timeOf } from '#api/http/schema-parts.ts';
import { MailboxId, mailboxExample } from '#api/mailboxes/schema.ts';
import { presentSummary } from '#api/messages/present.ts';
import { Address, AttachmentInfo } from '#api/messages/schema.ts';
import { content, oneOrMore, SendAt, subject } from '#api/messages/sending/send-schema.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';
import type { DraftRow } from '#mailstore/messages/drafts.ts';
import type { StoredMessage } from '#mailstore/messages/read-messages.ts';
import type { EditableMessage } from '#mime/editable-message.ts';

const DraftId = Type.String({
  pattern: idPattern('draft'),
  description: 'Draft id. It stays the same over all saves.',
});
export const OwnDraftPath = closed({ did: DraftId });

const { from, replyTo, attachments, labels, headers, text, html } = content;

const kept = {
  from,
  to: Type.Optional(oneOrMore('One recipient or a list, as `a@b.c` or `Name <a@b.c>`.')),
  cc: Type.Optional(oneOrMore('Copies.')),
  bcc: Type.Optional(oneOrMore('Recipients that the others do not see.')),
  subject: Type.Optional(subject),
  replyTo,
  attachments,
  labels,
  headers,
};

export const CreateDraft = closed(
  {
    ...kept,
    text,
    html,
    sendAt: Type.Optional({
      ...SendAt,
      description: 'Send it at this time, once it is submitted; stored with the draft.',
    }),
    inReplyTo: Type.Optional({
      ...MessageId,
      description:
        'The message it answers. Without to, cc and bcc it is addressed like a reply to all. Default subject: `Re:` and the subject of that message.',
    }),
    replyAll: Type.Optional(
      Type.Boolean({ description: 'With inReplyTo; `false`: addressed to the sender only. Default: true.' }),
    ),
    clientId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Your own id of the draft. As long as that is a draft, creating the same one again is answered 200 with the first one, and another one with the id is a conflict.',
      }),
    ),
  },
  { title: 'NewDraft' },
);

export const UpdateDraft = closed(
  {
    ...kept,
    text: Type.Optional(nullable(Type.String({ pattern: ANY_TEXT }))),
    html: Type.Optional(nullable(Type.String({ pattern: ANY_TEXT }))),
    sendAt: Type.Optional(nullable(SendAt)),
  },
  { title: 'DraftChanges', minProperties: 1 },
);

export const SendDraft = closed(
  {
    sendAt: Type.Optional({
      ...nullable(SendAt),
      description: 'Replaces the stored time; null: at once.',
    }),
  },
  { title: 'DraftSending' },
);

const summary = {
  id: DraftId,
  messageId: { ...MessageId, description: 'The message in Drafts. Each save makes a new one.' },
  threadId: Type.String({ pattern: idPattern('thread') }),
  mailboxId: MailboxId,
  from: nullable({ ...Address, description: 'The address of the mailbox, or an alias that it is written as.' }),
  to: Type.Array(Address),
  cc: Type.Array(Address),
  subject: Type.String(),
  preview: Type.String({ description: 'First words of the text, at most 200 characters.' }),
  attachments: Type.Array(AttachmentInfo),
  labels: Type.Array(Type.String()),
  sizeBytes: Type.Integer(),
  sendAt: nullable(dateTime('Time at which it will be sent, once it is submitted.')),
  createdAt: dateTime(),
  updatedAt: dateTime('Time of the last save.'),
};
const DraftSummary = closed(summary, { title: 'DraftSummary' });
export const DraftList = listOf(DraftSummary, 'DraftList');

const whole = {
  ...summary,
  bcc: Type.Array(Address, { description: 'Stored in the draft, removed from the message that is sent.' }),
  replyTo: Type.Array(Address),
  text: nullable(Type.String()),
  html: nullable(Type.String()),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Further header fields.' }),
  inReplyTo: nullable(Type.String({ description: 'Message-ID header of the message it answers.' })),
};
export const Draft = closed(whole, { title: 'Draft' });

export const CreatedDraft = closed(
  {
    ...whole,
    repeated: Type.Boolean({
      description: 'Whether it was created before with this `clientId`; it is shown as it is now.',
    }),
  },
  { title: 'CreatedDraft' },
);

export const draftSummaryExample = {
  id: 'drf_01k8e8f2c0e4x9w2v7a3r5t6y8',
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  threadId: 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  from: mailboxExample.address,
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  attachments: [],
  labels: [],
  sizeBytes: 612,
  sendAt: null,
  createdAt: '2026-11-21T09:16:02.481Z',
  updatedAt: '2026-11-21T09:18:40.007Z',
};

export const draftExample = {
  ...draftSummaryExample,
  bcc: ['archive@acme.example'],
  replyTo: [],
  text: 'Dear Ada, your order is on its way.',
  html: null,
  headers: {},
  inReplyTo: null,
};

export function presentDraftSummary(draft: DraftRow, message: StoredMessage) {
  const {
    id: messageId,
    threadId,
    mailboxId,
    from,
    to,
    cc,
    subject,
    preview,
    attachments,
    sizeBytes,
  } = presentSummary(message);
  return {
    id: draft.id,
    messageId,
    threadId,
    mailboxId,
    from,
    to,
    cc,
    subject,
    preview,
    attachments,
    labels: [...draft.labels],
    sizeBytes,
    sendAt: timeOf(draft.sendAt),
    createdAt: draft.createdAt.toISOString(),
    updatedAt: message.receivedAt.toISOString(),
  };
}

export const presentDraft = (draft: DraftRow, message: StoredMessage, content: EditableMessage) => ({
  ...presentDraftSummary(draft, message),
  bcc: content.bcc.map(formatAddress),
  replyTo: content.replyTo.map(formatAddress),
  text: content.text ?? null,
  html: content.html ?? null,
  headers: { ...content.headers },
  inReplyTo: content.inReplyTo ?? null,
});
