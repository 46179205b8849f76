import Type from 'typebox';
import { idPattern } from '../../domain/ids.ts';
import { MailboxId } from '../mailboxes/schema.ts';
import { Address, AttachmentInfo, MessageId } from '../messages/schema.ts';
import { addresses, content, SendAt, subject } from '../messages/send-schema.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const DraftId = Type.String({ pattern: idPattern('draft'), description: 'Draft id. It stays over all saves.' });
export const MailboxDraftPath = closed({ id: MailboxId, did: DraftId });
export const OwnDraftPath = closed({ did: DraftId });

const { replyTo, attachments, labels, headers, text, html } = content;

const kept = {
  to: Type.Optional(addresses('Recipients, as `a@b.c` or `Name <a@b.c>`.')),
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
  subject: Type.Optional(subject),
  replyTo,
  attachments,
  labels,
  headers,
};

export const CreateDraft = closed({
  ...kept,
  text,
  html,
  sendAt: Type.Optional({ ...SendAt, description: 'When it is to go, once it is sent; kept with the draft.' }),
  inReplyTo: Type.Optional({
    ...MessageId,
    description:
      'The message it answers. Without to, cc and bcc it is addressed as the answer to all would be, and its subject is `Re:` and that one’s.',
  }),
  replyAll: Type.Optional(
    Type.Boolean({ description: 'With inReplyTo; `false`: addressed to the sender alone. Default: true.' }),
  ),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Your own id of the draft: creating it again answers the first one while it is a draft.',
    }),
  ),
});

export const UpdateDraft = closed(
  {
    ...kept,
    text: Type.Optional(nullable(Type.String())),
    html: Type.Optional(nullable(Type.String())),
    sendAt: Type.Optional(nullable(SendAt)),
  },
  { minProperties: 1 },
);

export const SendDraft = closed({
  sendAt: Type.Optional({
    ...nullable(SendAt),
    description: 'Instead of the one kept with the draft; null: at once.',
  }),
});

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
  sendAt: nullable(dateTime('When it is to go, once it is sent.')),
  createdAt: dateTime(),
  updatedAt: dateTime('Time of the last save.'),
};
const DraftSummary = closed(summary);
export const DraftList = listOf(DraftSummary);

export const Draft = closed(
  {
    ...summary,
    bcc: Type.Array(Address, { description: 'Kept in the draft; in no message that is sent.' }),
    replyTo: Type.Array(Address),
    text: nullable(Type.String()),
    html: nullable(Type.String()),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Further header fields.' }),
    inReplyTo: nullable(Type.String({ description: 'Message-ID header of the message it answers.' })),
  },
  { title: 'Draft' },
);
