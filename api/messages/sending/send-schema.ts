import Type from 'typebox';
import { closed, dateTime, MessageId, nullable } from '#api/http/schema-parts.ts';
import { MessageDecision } from '#api/messages/decision.ts';
import { Address, AttachmentId, LABEL_PATTERN } from '#api/messages/schema.ts';
import { idPattern } from '#domain/ids.ts';
import {
  ATTACHMENT_URL_MAX_CHARACTERS,
  ATTACHMENT_URL_REDIRECTS_MAX,
  ATTACHMENT_URL_TIMEOUT_MS,
  ATTACHMENT_URLS_PER_MINUTE_MAX,
  FILE_NAME_MAX_CHARACTERS,
} from '#domain/mail/file-limits.ts';
import { KEYWORDS_PER_MESSAGE_MAX, MESSAGE_MAX_BYTES, RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { ANY_TEXT, LINE_OF_MAIL } from '#domain/mail/text-forms.ts';
import {
  ATTEMPT_OUTCOMES,
  ATTEMPTS_SHOWN_MAX,
  OUTBOUND_STATUSES,
  RECIPIENT_STATUSES,
  SEND_AT_AHEAD_MAX_DAYS,
} from '#domain/sending/outbound.ts';

/** Base64 takes four bytes for three; the rest is room for the other fields. */
export const SEND_BODY_LIMIT_BYTES = Math.ceil((MESSAGE_MAX_BYTES * 4) / 3) + 1_048_576;

const ADDRESS_TEXT_MAX = 998;
const SUBJECT_MAX_CHARACTERS = 998;

const oneAddress = Type.String({ minLength: 3, maxLength: ADDRESS_TEXT_MAX, pattern: LINE_OF_MAIL });

export const addresses = (description: string) =>
  Type.Array(oneAddress, { maxItems: RECIPIENTS_PER_MESSAGE_MAX, description });

/** One address, or a list of them. */
export const oneOrMore = (description: string) =>
  Type.Union([oneAddress, Type.Array(oneAddress, { maxItems: RECIPIENTS_PER_MESSAGE_MAX })], { description });

const Attachment = closed(
  {
    fileId: Type.Optional(
      Type.String({ pattern: idPattern('file'), description: 'An uploaded file of this mailbox (POST …/files).' }),
    ),
    messageId: Type.Optional({
      ...MessageId,
      description: 'With attachmentId: an attachment of a message of this mailbox.',
    }),
    attachmentId: Type.Optional(AttachmentId),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: ATTACHMENT_URL_MAX_CHARACTERS,
        description: `An https URL. It is fetched when the message is submitted: from public addresses only, within ${ATTACHMENT_URL_TIMEOUT_MS / 1_000} s, after at most ${ATTACHMENT_URL_REDIRECTS_MAX} redirects; ${ATTACHMENT_URLS_PER_MINUTE_MAX} a minute.`,
      }),
    ),
    contentBase64: Type.Optional(
      Type.String({
        contentEncoding: 'base64',
        description:
          'The content in standard base64, for small files; needs contentType. All attachments together fit into the limit of a message.',
      }),
    ),
    filename: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: FILE_NAME_MAX_CHARACTERS,
        pattern: LINE_OF_MAIL,
        description: 'Default: the name of the file.',
      }),
    ),
    contentType: Type.Optional(
      Type.String({
        maxLength: 127,
        pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
        description: 'Default: the type of the file.',
      }),
    ),
    contentId: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: '^[!-;=?-~]+$',
        description: 'For `cid:` in the HTML.',
      }),
    ),
  },
  {
    title: 'NewAttachment',
    description:
      'One of fileId, messageId with attachmentId, url, or contentBase64 with contentType. It is read when the message is submitted or the draft is saved: what is approved and sent are these bytes.',
  },
);

export const SendAt = dateTime(
  `Not before this time, at most ${SEND_AT_AHEAD_MAX_DAYS} days ahead; default: at once. Until then DELETE withdraws it.`,
);

/** The fields of every message body except recipients and subject. */
export const content = {
  from: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: ADDRESS_TEXT_MAX,
      description:
        'The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.',
    }),
  ),
  replyTo: Type.Optional(oneOrMore('Address for replies, instead of the mailbox.')),
  text: Type.Optional(Type.String({ pattern: ANY_TEXT })),
  html: Type.Optional(Type.String({ pattern: ANY_TEXT })),
  attachments: Type.Optional(Type.Array(Attachment, { maxItems: 100 })),
  labels: Type.Optional(
    Type.Array(Type.String({ pattern: LABEL_PATTERN }), {
      maxItems: KEYWORDS_PER_MESSAGE_MAX,
      description: 'Of the copy in Sent.',
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ pattern: LINE_OF_MAIL }), {
      maxProperties: 50,
      description: 'Further header fields, such as `X-Campaign`. Those the service sets itself are refused.',
    }),
  ),
  sendAt: Type.Optional(SendAt),
  resubmits: Type.Optional(
    Type.String({
      pattern: idPattern('consent'),
      description:
        'The consent id of a message of this mailbox that a person sent back with a comment: this is the changed message. It is held in any case, and shown with its earlier versions.',
    }),
  ),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Your own id of the message. The same message again with it is answered 200 with the first one, and nothing is sent; another message with it is a conflict. So a request whose answer was lost can be repeated safely. Do not use an id for two messages.',
    }),
  ),
};
export const subject = Type.String({ maxLength: SUBJECT_MAX_CHARACTERS, pattern: LINE_OF_MAIL });

export const SendMessage = closed(
  {
    to: Type.Optional(
      oneOrMore('One recipient or a list, as `a@b.c` or `Name <a@b.c>`. There must be one in to, cc or bcc.'),
    ),
    cc: Type.Optional(oneOrMore('Copies.')),
    bcc: Type.Optional(oneOrMore('Recipients that the others do not see.')),
    subject,
    ...content,
  },
  { title: 'NewMessage' },
);

export const ReplyMessage = closed(
  {
    to: Type.Optional(oneOrMore('Recipients in addition to those of the reply.')),
    cc: Type.Optional(oneOrMore('Further copies.')),
    bcc: Type.Optional(oneOrMore('Recipients that the others do not see.')),
    subject: Type.Optional({ ...subject, description: 'Default: `Re:` and the subject of the message.' }),
    ...content,
  },
  { title: 'Reply' },
);

export const ForwardMessage = closed(
  {
    to: Type.Optional(oneOrMore('Recipients. There must be one in to, cc or bcc.')),
    cc: Type.Optional(oneOrMore('Copies.')),
    bcc: Type.Optional(oneOrMore('Recipients that the others do not see.')),
    subject: Type.Optional({ ...subject, description: 'Default: `Fwd:` and the subject of the message.' }),
    ...content,
  },
  { title: 'Forward' },
);

const Status = Type.Enum([...OUTBOUND_STATUSES]);

/** The final recipients. */
const goesTo = {
  from: Address,
  to: Type.Array(Address),
  cc: Type.Array(Address),
  bcc: Type.Array(Address),
  subject: Type.String(),
  messageId: Type.String({ description: 'Message-ID header.' }),
  omitted: Type.Array(Type.String(), {
    description: 'People in the answered message who do not get this one; `reply-all` omits nobody.',
  }),
  sendAt: nullable(dateTime('It is not sent before this time; null: not scheduled.')),
};

export const SentMessage = closed(
  {
    id: MessageId,
    threadId: nullable(
      Type.String({ pattern: idPattern('thread'), description: 'Null until a scheduled message is sent.' }),
    ),
    status: Status,
    repeated: Type.Literal(false),
    ...goesTo,
  },
  { title: 'SentMessage' },
);

export const HeldMessage = closed(
  {
    id: MessageId,
    status: Type.Literal('consent_pending'),
    consentId: Type.String({ pattern: idPattern('consent') }),
    message: Type.String({ description: 'What it means, for an agent to read.' }),
    repeated: Type.Literal(false),
    ...goesTo,
  },
  { title: 'HeldMessage' },
);

const { omitted: _, ...shownAgain } = goesTo;

export const RepeatedMessage = closed(
  {
    id: MessageId,
    status: Status,
    repeated: Type.Literal(true),
    consentId: nullable(Type.String({ pattern: idPattern('consent'), description: 'Null unless it is held.' })),
    message: Type.String({ description: 'What it means, for an agent to read.' }),
    ...Type.Partial(
      Type.Object({
        threadId: nullable(Type.String({ pattern: idPattern('thread') })),
        ...shownAgain,
      }),
    ).properties,
  },
  {
    title: 'RepeatedMessage',
    description:
      'The first message as it is now. A token that may only send gets its id and status, and nothing of its content.',
  },
);

export const MessageStatus = closed(
  {
    id: MessageId,
    status: Status,
    consentId: nullable(Type.String({ pattern: idPattern('consent') })),
    submittedAt: dateTime(),
    sendAt: nullable(dateTime('It is not sent before this time; null: not scheduled.')),
    sentAt: nullable(dateTime('When the first recipient was reached.')),
    finishedAt: nullable(dateTime('When the last recipient was final.')),
    decision: nullable(MessageDecision),
    stopped: nullable(
      Type.String({
        description: 'Why it waits although it is due: a person stopped sending. Sending continues when the stop ends.',
      }),
    ),
    recipients: Type.Array(
      closed(
        {
          address: Type.String(),
          status: Type.Enum([...RECIPIENT_STATUSES]),
          code: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).' })),
          reply: nullable(Type.String({ description: 'Answer of the other host, or why there was none.' })),
          nextAttemptAt: nullable(dateTime()),
          updatedAt: dateTime(),
        },
        { title: 'RecipientStatus' },
      ),
    ),
    attempts: Type.Array(
      closed(
        {
          destination: Type.String({ description: 'Host of the relay, or domain.' }),
          number: Type.Integer({ description: 'From 1 on, for each destination.' }),
          transport: Type.Enum(['capture', 'relay', 'mx']),
          recipients: Type.Array(Type.String()),
          startedAt: dateTime(),
          finishedAt: nullable(dateTime('Null while it is in flight, or if it was interrupted; then it is repeated.')),
          outcome: nullable(
            Type.Enum([...ATTEMPT_OUTCOMES], { description: '`partial`: different for different recipients.' }),
          ),
          reply: nullable(Type.String({ description: 'Answer of the other host about the first recipient.' })),
        },
        { title: 'SendingAttempt' },
      ),
      { description: `Mail for other hosts only: the newest ${ATTEMPTS_SHOWN_MAX}, oldest first.` },
    ),
  },
  { title: 'MessageStatus' },
);
