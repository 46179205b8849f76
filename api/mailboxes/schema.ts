import Type from 'typebox';
import { closed, dateTime, listOf, nullable, pageQuery } from '#api/http/schema-parts.ts';
import {
  MessagesBudget,
  NewRecipientsBudget,
  SendingBudgetsSchema,
  SendingModeSchema,
  SendingToday,
} from '#api/http/sending-schema.ts';
import { type SnippetKind, TOKEN_PLACEHOLDER } from '#client/snippets.ts';
import { idPattern } from '#domain/ids.ts';
import {
  LOCAL_PART_MAX,
  MAILBOX_NAME_MAX,
  MAILBOX_PURPOSE_MAX,
  METADATA_KEY_MAX,
  METADATA_KEYS_MAX,
  METADATA_VALUE_MAX,
} from '#domain/mail/mailbox-address.ts';
import { LINES, oneLineUpTo } from '#domain/mail/text-forms.ts';
import {
  MAILBOX_GROUP_MAX,
  MAILBOX_GROUP_PATTERN,
  MAILBOX_STATUSES,
  SYNC_STATUSES,
  UNAUTHENTICATED_MAIL,
} from '#domain/organizations/mailboxes.ts';
import { SENDING_STATES } from '#domain/sending/sending-health.ts';

export const MailboxId = Type.String({ pattern: idPattern('mailbox'), description: 'Mailbox id.' });
export const MailboxParams = closed({ id: MailboxId });

const Metadata = Type.Record(
  Type.String({ pattern: oneLineUpTo(METADATA_KEY_MAX) }),
  Type.String({ maxLength: METADATA_VALUE_MAX, pattern: LINES }),
  {
    maxProperties: METADATA_KEYS_MAX,
    additionalProperties: false,
    description: `Up to ${METADATA_KEYS_MAX} keys of your own; keys of ${METADATA_KEY_MAX}, values of ${METADATA_VALUE_MAX} characters at most.`,
  },
);
const ClientId = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    'Your own id of the mailbox. The same creation again with it is answered 200 with the first mailbox, without its token; another creation with it is a conflict.',
});
const DomainName = Type.String({ minLength: 1, maxLength: 253 });
const Name = Type.String({
  minLength: 1,
  maxLength: MAILBOX_NAME_MAX,
  description: 'Display name.',
});

const Purpose = nullable(
  Type.String({
    minLength: 1,
    maxLength: MAILBOX_PURPOSE_MAX,
    pattern: LINES,
    description: 'What the mailbox is for: shown to the people who decide about its mail.',
  }),
);

export const MailboxGroup = Type.String({
  maxLength: MAILBOX_GROUP_MAX,
  pattern: MAILBOX_GROUP_PATTERN,
  description:
    'Name of a group of mailboxes: lower-case letters and digits, with hyphens, dots or underscores between them.',
});
const Group = nullable({
  ...MailboxGroup,
  description:
    'Group of the mailbox; null: none. API keys can be limited to groups. A group exists as long as a mailbox is in it.',
});

export const CreateMailbox = closed(
  {
    localPart: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LOCAL_PART_MAX,
        description: 'Part before the @. Default: a pronounceable one is generated.',
      }),
    ),
    name: Type.Optional(Name),
    purpose: Type.Optional(Purpose),
    group: Type.Optional(Group),
    domain: Type.Optional({
      ...DomainName,
      description: 'A domain of the organization; default: that of the instance.',
    }),
    metadata: Type.Optional(Metadata),
    clientId: Type.Optional(ClientId),
  },
  { title: 'NewMailbox' },
);

const UnauthenticatedMail = Type.Enum([...UNAUTHENTICATED_MAIL], {
  description:
    'What happens to mail that fails DMARC if the domain of its sender asks to quarantine or reject it, and to mail that names no author: `junk` (default) files it in Junk, `inbox` in INBOX, both with the label `unauthenticated`; `reject` refuses it (550 5.7.26).',
});

export const UpdateMailbox = closed(
  {
    name: Type.Optional(Name),
    purpose: Type.Optional(Purpose),
    group: Type.Optional(Group),
    metadata: Type.Optional({ ...Metadata, description: 'Replaces all metadata.' }),
    status: Type.Optional(
      Type.Enum(['active', 'suspended'], {
        description:
          '`suspended`: mail to it is refused, it sends nothing, and its tokens are refused. `active` resumes it: only a person may do this, or an API key if the organization sets `consentByApiKey`.',
      }),
    ),
    unauthenticatedMail: Type.Optional(UnauthenticatedMail),
    sendingMode: Type.Optional(SendingModeSchema),
    budgets: Type.Optional(
      closed(
        {
          messagesPerDay: Type.Optional(MessagesBudget),
          newRecipientsPerDay: Type.Optional(NewRecipientsBudget),
        },
        { title: 'SendingBudgetsChanges', minProperties: 1, description: 'Omitted fields do not change.' },
      ),
    ),
  },
  { title: 'MailboxChanges', minProperties: 1 },
);

const mailboxFields = {
  id: MailboxId,
  name: Type.String({ description: 'Display name.' }),
  purpose: nullable(Type.String({ description: 'What it is for.' })),
  group: Group,
  address: Type.String(),
  localPart: Type.String(),
  domain: Type.String(),
  status: Type.Enum(MAILBOX_STATUSES, {
    description:
      '`pending`: its domain is not verified yet. `suspended`: neither receives nor sends, and its tokens are refused.',
  }),
  syncStatus: Type.Enum(SYNC_STATUSES, { description: '`pending` until the mail host serves it.' }),
  quota: closed(
    {
      limitBytes: Type.Integer(),
      usedBytes: Type.Integer(),
      messageCount: Type.Integer(),
    },
    { title: 'MailboxQuota' },
  ),
  sending: closed(
    {
      state: Type.Enum(SENDING_STATES, {
        description:
          'Computed from bounces and complaints of the last 24 hours. `flagged`: a warning. `paused`: nothing is sent to recipients outside until it is resumed.',
      }),
      reason: nullable(Type.String({ description: 'Why it is flagged or paused.' })),
      stoppedBy: nullable(
        Type.Enum(['organization', 'mailbox'], {
          description: 'Whose stop applies now: nothing is sent until a person ends it. Null: none.',
        }),
      ),
    },
    { title: 'MailboxSending' },
  ),
  sendingMode: SendingModeSchema,
  budgets: SendingBudgetsSchema,
  today: SendingToday,
  unreadCount: Type.Integer({ description: 'Messages in INBOX that are not seen.' }),
  waiting: closed(
    { held: Type.Integer(), scheduled: Type.Integer() },
    {
      title: 'MailboxWaiting',
      description: 'Outgoing messages that wait for a decision of a person, and for their time.',
    },
  ),
  unauthenticatedMail: UnauthenticatedMail,
  metadata: Type.Record(Type.String(), Type.String()),
  clientId: nullable(Type.String()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  lastActivityAt: nullable(dateTime()),
};

export const Mailbox = closed(mailboxFields, { title: 'Mailbox' });

const Listener = closed(
  {
    host: Type.String(),
    port: Type.Integer(),
    security: Type.Enum(['tls', 'starttls']),
    username: Type.String({ description: 'The address; the password is the mailbox token.' }),
  },
  { title: 'MailServer' },
);
export const Connection = closed({ imap: Listener, pop3: Listener, smtp: Listener }, { title: 'MailConnection' });

const SNIPPET_KINDS: readonly SnippetKind[] = ['cli', 'mail-client', 'typescript', 'curl', 'mcp'];
export const ConnectionSnippet = closed(
  {
    kind: Type.Enum([...SNIPPET_KINDS]),
    title: Type.String(),
    note: Type.String({ description: 'How to use it, in one sentence.' }),
    text: Type.String({
      description: `Complete except for the mailbox token, which replaces \`${TOKEN_PLACEHOLDER}\`.`,
    }),
  },
  { title: 'ConnectionSnippet' },
);
export const ConnectionSnippetList = closed(
  { data: Type.Array(ConnectionSnippet) },
  { title: 'ConnectionSnippetList' },
);

const withToken = {
  ...mailboxFields,
  token: nullable(Type.String({ description: 'The mailbox token. Shown in this answer only.' })),
  connection: Connection,
};
export const MailboxWithToken = closed(withToken, { title: 'MailboxWithToken' });

export const CreatedMailbox = closed(
  {
    ...withToken,
    repeated: Type.Boolean({
      description: 'Whether it was created before with this `clientId`; it is shown as it is now.',
    }),
  },
  { title: 'CreatedMailbox' },
);

export const MailboxList = listOf(Mailbox, 'MailboxList');

export const MailboxQuery = closed({
  ...pageQuery,
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the address or name.' })),
  status: Type.Optional(Type.Enum(MAILBOX_STATUSES)),
  domain: Type.Optional(DomainName),
  group: Type.Optional(MailboxGroup),
  clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});
