import Type from 'typebox';
import { closed, dateTime, listOf, nullable } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { Address, AttachmentInfo, MessageId } from '#api/messages/schema.ts';
import { content, oneOrMore, SendAt, subject } from '#api/messages/sending/send-schema.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';

const DraftId = Type.String({
  pattern: idPattern('draft'),
  description: 'Draft id. It stays the same over all saves.',
});
export const MailboxDraftPath = closed({ id: MailboxId, did: DraftId });
export const OwnDraftPath = closed({ did: DraftId });

const { replyTo, attachments, labels, headers, text, html } = content;

const kept = {
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
