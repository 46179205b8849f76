import Type from 'typebox';
import { idPattern } from '../../domain/ids.ts';
import { KEYWORDS_PER_MESSAGE_MAX, MESSAGE_MAX_BYTES, RECIPIENTS_PER_MESSAGE_MAX } from '../../domain/mail-limits.ts';
import {
  ATTEMPT_OUTCOMES,
  ATTEMPTS_SHOWN_MAX,
  OUTBOUND_STATUSES,
  RECIPIENT_STATUSES,
  SEND_AT_AHEAD_MAX_DAYS,
} from '../../domain/outbound.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';
import { Address, LABEL_PATTERN, MessageId } from './schema.ts';

/** Base64 takes four bytes for three; the rest is room for the other fields. */
export const SEND_BODY_LIMIT_BYTES = Math.ceil((MESSAGE_MAX_BYTES * 4) / 3) + 1_048_576;

const ADDRESS_TEXT_MAX = 998;
const SUBJECT_MAX = 998;
const NO_CONTROLS = '^[^\\u0000-\\u001f\\u007f]*$';

export const addresses = (description: string) =>
  Type.Array(Type.String({ minLength: 3, maxLength: ADDRESS_TEXT_MAX, pattern: NO_CONTROLS }), {
    maxItems: RECIPIENTS_PER_MESSAGE_MAX,
    description,
  });

const Attachment = closed({
  filename: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: NO_CONTROLS })),
  contentType: Type.String({ maxLength: 127, pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$' }),
  contentBase64: Type.String({ description: 'Standard base64.' }),
  contentId: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^[^\\s<>\\u0000-\\u001f\\u007f]+$',
      description: 'For `cid:` in the HTML.',
    }),
  ),
});

export const SendAt = dateTime(
  `Not before this time, at most ${SEND_AT_AHEAD_MAX_DAYS} days ahead; left out: at once. Until then it can be taken back by DELETE.`,
);

/** What every body of a message takes beside recipients and subject. */
export const content = {
  replyTo: Type.Optional(addresses('Where answers go instead of the mailbox.')),
  text: Type.Optional(Type.String()),
  html: Type.Optional(Type.String()),
  attachments: Type.Optional(Type.Array(Attachment, { maxItems: 100 })),
  labels: Type.Optional(
    Type.Array(Type.String({ pattern: LABEL_PATTERN }), {
      maxItems: KEYWORDS_PER_MESSAGE_MAX,
      description: 'Of the copy in Sent.',
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: 50,
      description: 'Further header fields, such as `X-Campaign`. Those the service sets itself are refused.',
    }),
  ),
  sendAt: Type.Optional(SendAt),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Your own id of the message: sending with it again answers the first message and sends nothing.',
    }),
  ),
};
export const subject = Type.String({ maxLength: SUBJECT_MAX, pattern: NO_CONTROLS });

export const SendMessage = closed({
  to: Type.Optional(addresses('Recipients, as `a@b.c` or `Name <a@b.c>`. There must be one in to, cc or bcc.')),
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
  subject,
  ...content,
});

export const ReplyMessage = closed({
  to: Type.Optional(addresses('Further recipients beside those the answer goes to by itself.')),
  cc: Type.Optional(addresses('Further copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
  subject: Type.Optional({ ...subject, description: 'Default: `Re:` and the subject of the message.' }),
  ...content,
});

export const ForwardMessage = closed({
  to: Type.Optional(addresses('Recipients. There must be one in to, cc or bcc.')),
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
  subject: Type.Optional({ ...subject, description: 'Default: `Fwd:` and the subject of the message.' }),
  ...content,
});

const Status = Type.Enum([...OUTBOUND_STATUSES]);

/** Who gets it in the end. */
const goesTo = {
  from: Address,
  to: Type.Array(Address),
  cc: Type.Array(Address),
  bcc: Type.Array(Address),
  subject: Type.String(),
  messageId: Type.String({ description: 'Message-ID header.' }),
  omitted: Type.Array(Type.String(), {
    description: 'People of the answered message who do not get this one; `reply-all` leaves out nobody.',
  }),
  sendAt: nullable(dateTime('When it goes at the earliest; null: it does not wait for a time.')),
};

export const SentMessage = closed(
  {
    id: MessageId,
    threadId: nullable(
      Type.String({ pattern: idPattern('thread'), description: 'Null until a scheduled message has gone.' }),
    ),
    status: Status,
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
    ...goesTo,
  },
  { title: 'HeldMessage' },
);

export const MessageStatus = closed(
  {
    id: MessageId,
    status: Status,
    consentId: nullable(Type.String({ pattern: idPattern('consent') })),
    submittedAt: dateTime(),
    sendAt: nullable(dateTime('When it goes at the earliest; null: it does not wait for a time.')),
    sentAt: nullable(dateTime('When the first recipient was reached.')),
    finishedAt: nullable(dateTime('When the last recipient was final.')),
    recipients: Type.Array(
      closed({
        address: Type.String(),
        status: Type.Enum([...RECIPIENT_STATUSES]),
        code: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).' })),
        reply: nullable(Type.String({ description: 'Answer of the other side, or why there was none.' })),
        nextAttemptAt: nullable(dateTime()),
        updatedAt: dateTime(),
      }),
    ),
    attempts: Type.Array(
      closed({
        destination: Type.String({ description: 'Host of the relay, or domain.' }),
        number: Type.Integer({ description: 'From 1 on, for each destination.' }),
        transport: Type.Enum(['capture', 'relay', 'mx']),
        recipients: Type.Array(Type.String()),
        startedAt: dateTime(),
        finishedAt: nullable(dateTime('Null while it is under way, or when it was cut off; then it is made again.')),
        outcome: nullable(
          Type.Enum([...ATTEMPT_OUTCOMES], { description: '`partial`: not the same for all recipients.' }),
        ),
        reply: nullable(Type.String({ description: 'Answer of the other side about the first recipient.' })),
      }),
      { description: `Mail for other hosts only: the newest ${ATTEMPTS_SHOWN_MAX}, oldest first.` },
    ),
  },
  { title: 'MessageStatus' },
);
