import Type from 'typebox';
import { idPattern } from '../../domain/ids.ts';
import {
  LOCAL_PART_MAX,
  MAILBOX_NAME_MAX,
  METADATA_KEY_MAX,
  METADATA_KEYS_MAX,
  METADATA_VALUE_MAX,
} from '../../domain/mailbox-address.ts';
import { MAILBOX_STATUSES, SYNC_STATUSES, UNAUTHENTICATED_MAIL } from '../../domain/mailbox-status.ts';
import { SENDING_STATES } from '../../domain/sending-health.ts';
import { listOf, pageQuery } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

export const MailboxId = Type.String({ pattern: idPattern('mailbox'), description: 'Mailbox id.' });
export const MailboxParams = closed({ id: MailboxId });

const Metadata = Type.Record(
  Type.String({ pattern: `^.{1,${METADATA_KEY_MAX}}$` }),
  Type.String({ maxLength: METADATA_VALUE_MAX }),
  {
    maxProperties: METADATA_KEYS_MAX,
    additionalProperties: false,
    description: `Up to ${METADATA_KEYS_MAX} keys of your own; keys of ${METADATA_KEY_MAX}, values of ${METADATA_VALUE_MAX} characters at most.`,
  },
);
const ClientId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Your own id of the mailbox; a second creation with it answers the first mailbox, without its token.',
});
const DomainName = Type.String({ minLength: 1, maxLength: 253 });
const Name = Type.String({
  minLength: 1,
  maxLength: MAILBOX_NAME_MAX,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Display name.',
});

export const CreateMailbox = closed({
  localPart: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LOCAL_PART_MAX,
      description: 'Part before the @. A pronounceable one is made when it is left out.',
    }),
  ),
  name: Type.Optional(Name),
  domain: Type.Optional({ ...DomainName, description: 'A domain of the organization; default: that of the instance.' }),
  metadata: Type.Optional(Metadata),
  clientId: Type.Optional(ClientId),
});

const UnauthenticatedMail = Type.Enum([...UNAUTHENTICATED_MAIL], {
  description:
    'What happens to mail that fails DMARC where the domain of its sender asks to quarantine or reject it: `junk` (default) files it to Junk, `inbox` to INBOX, both with the label `unauthenticated`; `reject` refuses it (550 5.7.26).',
});

export const UpdateMailbox = closed(
  {
    name: Type.Optional(Name),
    metadata: Type.Optional({ ...Metadata, description: 'Replaces all metadata.' }),
    status: Type.Optional(
      Type.Enum(['active', 'suspended'], { description: '`suspended` stops receiving and sending.' }),
    ),
    unauthenticatedMail: Type.Optional(UnauthenticatedMail),
  },
  { minProperties: 1 },
);

const mailboxFields = {
  id: MailboxId,
  name: Type.String({ description: 'Display name.' }),
  address: Type.String(),
  localPart: Type.String(),
  domain: Type.String(),
  status: Type.Enum(MAILBOX_STATUSES, {
    description: '`pending`: its domain is not verified yet. `suspended`: neither receives nor sends.',
  }),
  syncStatus: Type.Enum(SYNC_STATUSES, { description: '`pending` while the mail host does not serve it yet.' }),
  quota: closed({
    limitBytes: Type.Integer(),
    usedBytes: Type.Integer(),
    messageCount: Type.Integer(),
  }),
  sending: closed({
    state: Type.Enum(SENDING_STATES, {
      description:
        'Judged by bounces and complaints of the last 24 hours. `flagged`: a warning. `paused`: nothing leaves to recipients outside until it is resumed.',
    }),
    reason: nullable(Type.String({ description: 'Why it is flagged or paused.' })),
  }),
  unauthenticatedMail: UnauthenticatedMail,
  metadata: Type.Record(Type.String(), Type.String()),
  clientId: nullable(Type.String()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
  lastActivityAt: nullable(dateTime()),
};

export const Mailbox = closed(mailboxFields, { title: 'Mailbox' });

const Door = closed({
  host: Type.String(),
  port: Type.Integer(),
  security: Type.Enum(['tls', 'starttls']),
  username: Type.String({ description: 'The address; the password is the mailbox token.' }),
});
export const Connection = closed({ imap: Door, pop3: Door, smtp: Door }, { title: 'MailConnection' });

export const MailboxWithToken = closed(
  {
    ...mailboxFields,
    token: nullable(Type.String({ description: 'The mailbox token. Shown in this answer only.' })),
    connection: Connection,
  },
  { title: 'MailboxWithToken' },
);

export const MailboxList = listOf(Mailbox);

export const MailboxQuery = closed({
  ...pageQuery,
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the address or name.' })),
  status: Type.Optional(Type.Enum(MAILBOX_STATUSES)),
  domain: Type.Optional(DomainName),
  clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});
