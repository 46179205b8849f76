import Type, { type Static } from 'typebox';
import {
  closed,
  dateTime,
  listOf,
  MailRetentionSchema,
  MessagesBudget,
  NewRecipientsBudget,
  nullable,
  pageQuery,
  SendingBudgetsSchema,
  SendingModeSchema,
  SendingToday,
  timeOf,
} from '#api/http/schema-parts.ts';
import { connectionSnippets, type SnippetKind, TOKEN_PLACEHOLDER } from '#client/snippets.ts';
import type { MailConnection } from '#core/mailboxes/client-settings.ts';
import type { MailboxView } from '#core/mailboxes/mailbox-queries.ts';
import { idPattern } from '#domain/ids.ts';
import { EXPIRED_MAILBOX_GRACE_DAYS, KEPT_FOR_EVER } from '#domain/mail/mail-retention.ts';
import {
  LOCAL_PART_MAX,
  MAILBOX_NAME_MAX,
  MAILBOX_PURPOSE_MAX,
  METADATA_KEY_MAX,
  METADATA_KEYS_MAX,
  METADATA_VALUE_MAX,
} from '#domain/mail/mailbox-address.ts';
import { SCREENING_MODES } from '#domain/mail/screening.ts';
import { LINES, oneLineUpTo } from '#domain/mail/text-forms.ts';
import {
  MAILBOX_GROUP_MAX,
  MAILBOX_GROUP_PATTERN,
  MAILBOX_STATUSES,
  SYNC_STATUSES,
  UNAUTHENTICATED_MAIL,
} from '#domain/organizations/mailboxes.ts';
import { CARRIED_MAIL_MODES } from '#domain/sending/carried-mail.ts';
import { SENDING_STATES } from '#domain/sending/sending-brakes.ts';
import { ASK_AFTER_READING_MAX_MINUTES } from '#domain/sending/unknown-senders.ts';

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

const EXPIRY = `From then on the mailbox is refused on every protocol, as one that was deleted; null: never. A later time opens it again. ${EXPIRED_MAILBOX_GRACE_DAYS} days after its expiry it is deleted with its mail, and \`mailbox_deleted\` is sent.`;
const ExpiresAt = nullable(dateTime());
const Retention = Type.Union([MailRetentionSchema, Type.Null()], {
  description: 'How long its mail is kept, instead of the retention of the organization; null: as the organization.',
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
    expiresAt: Type.Optional({ ...ExpiresAt, description: `In the future. ${EXPIRY}` }),
    retention: Type.Optional(Retention),
    clientId: Type.Optional(ClientId),
  },
  { title: 'NewMailbox' },
);

const Screening = Type.Union([Type.Enum([...SCREENING_MODES]), Type.Null()], {
  description:
    'Which arriving mail waits until a member has decided about it, as `screening` of the organization says it; null: that of the organization. Only a session may change it.',
});

const PlusAddresses = Type.Boolean({
  description:
    'Whether mail to its address with any tag (`bot+tag@…`) reaches it. Tags with an alias of their own do in any case.',
});

const CarriedMail = Type.Union([Type.Enum([...CARRIED_MAIL_MODES]), Type.Null()], {
  description:
    'What happens to its mail that carries other mail, as `carriedMail` of the organization says it; null: that of the organization. Only a session may change it.',
});

const AskAfterReadingMinutes = nullable(
  Type.Integer({
    minimum: 0,
    maximum: ASK_AFTER_READING_MAX_MINUTES,
    description:
      'Minutes, as `askAfterReadingMinutes` of the organization says it; null: that of the organization. Only a session may change it.',
  }),
);

const Canary = Type.Boolean({
  description:
    'Whether the mailbox has a planted message that nobody needs. A message to somebody outside with its text is refused, and sending from the mailbox is stopped until a person ends the stop. Only a session may change it.',
});

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
    plusAddresses: Type.Optional(PlusAddresses),
    screening: Type.Optional(Screening),
    carriedMail: Type.Optional(CarriedMail),
    askAfterReadingMinutes: Type.Optional(AskAfterReadingMinutes),
    expiresAt: Type.Optional({ ...ExpiresAt, description: `${EXPIRY} A time in the past becomes now.` }),
    retention: Type.Optional(Retention),
    canary: Type.Optional(Canary),
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
      '`pending`: its domain is not verified yet. `suspended`: neither receives nor sends, and its tokens are refused. `expired`: the same, since `expiresAt`.',
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
  plusAddresses: PlusAddresses,
  screening: Screening,
  carriedMail: CarriedMail,
  askAfterReadingMinutes: AskAfterReadingMinutes,
  expiresAt: { ...ExpiresAt, description: 'From then on it is refused on every protocol; null: never.' },
  retention: Retention,
  canary: Canary,
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

export const mailboxExample = {
  id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Order desk',
  purpose: 'Answers questions about orders',
  group: 'orders',
  address: 'calm-otter-4821@agents.example.com',
  localPart: 'calm-otter-4821',
  domain: 'agents.example.com',
  status: 'active',
  syncStatus: 'synced',
  quota: { limitBytes: 5_368_709_120, usedBytes: 18_432, messageCount: 3 },
  sending: { state: 'ok', reason: null, stoppedBy: null },
  sendingMode: 'normal',
  budgets: { messagesPerDay: 200, newRecipientsPerDay: null },
  today: { sent: 12, newRecipients: 2, received: 31, held: 1 },
  unreadCount: 2,
  waiting: { held: 1, scheduled: 0 },
  unauthenticatedMail: 'junk',
  plusAddresses: true,
  screening: null,
  carriedMail: null,
  askAfterReadingMinutes: null,
  expiresAt: null,
  retention: null,
  canary: false,
  metadata: { team: 'orders' },
  clientId: 'order-desk-1',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
  lastActivityAt: null,
};

const listener = (port: number) => ({
  host: 'mail.example.com',
  port,
  security: 'tls',
  username: mailboxExample.address,
});

export const connectionExample = { imap: listener(993), pop3: listener(995), smtp: listener(465) };

export const snippetsExample = {
  data: connectionSnippets({
    apiUrl: 'https://mail.example.com',
    address: mailboxExample.address,
    token: TOKEN_PLACEHOLDER,
    imap: { ...listener(993), security: 'tls' },
    pop3: { ...listener(995), security: 'tls' },
    smtp: { ...listener(465), security: 'tls' },
  }),
};

export const mailboxWithTokenExample = {
  ...mailboxExample,
  token: 'amt_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q',
  connection: connectionExample,
};

export const presentMailbox = (mailbox: MailboxView): Static<typeof Mailbox> => ({
  id: mailbox.id,
  name: mailbox.name,
  purpose: mailbox.purpose,
  group: mailbox.group,
  address: mailbox.address,
  localPart: mailbox.localPart,
  domain: mailbox.domain,
  status: mailbox.status,
  syncStatus: mailbox.syncStatus,
  quota: { ...mailbox.quota },
  sending: { ...mailbox.sending, stoppedBy: mailbox.stoppedBy },
  sendingMode: mailbox.brakes.mode,
  budgets: { ...mailbox.brakes.budgets },
  today: { ...mailbox.today },
  unreadCount: mailbox.unread,
  waiting: { ...mailbox.waiting },
  unauthenticatedMail: mailbox.unauthenticatedMail,
  plusAddresses: mailbox.plusAddresses,
  screening: mailbox.screening,
  carriedMail: mailbox.carriedMail,
  askAfterReadingMinutes: mailbox.askAfterReadingMinutes,
  expiresAt: timeOf(mailbox.expiresAt),
  retention: mailbox.retention === null ? null : { ...KEPT_FOR_EVER, ...mailbox.retention },
  canary: mailbox.canary,
  metadata: { ...mailbox.metadata },
  clientId: mailbox.clientId,
  createdAt: mailbox.createdAt.toISOString(),
  updatedAt: mailbox.updatedAt.toISOString(),
  lastActivityAt: timeOf(mailbox.lastActivityAt),
});

/** With its token: at creation and rotation only. */
export const presentMailboxWithToken = (
  mailbox: MailboxView,
  token: string | null,
  connection: MailConnection,
): Static<typeof MailboxWithToken> => ({ ...presentMailbox(mailbox), token, connection });
