import Type, { type Static } from 'typebox';
import { Actor, closed, dateTime, listOf, MessageId, nullable, pageQuery, timeOf } from '#api/http/schema-parts.ts';
import { MailboxId, mailboxExample } from '#api/mailboxes/schema.ts';
import { ConsentChanges, presentChanges } from '#api/messages/decision.ts';
import { addresses, subject } from '#api/messages/sending/send-schema.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT, LINES, SOUGHT_LINE } from '#domain/mail/text-forms.ts';
import {
  CONSENT_REASON_MAX_CHARACTERS,
  CONSENT_SCOPES,
  CONSENT_STATUSES,
  DECIDED_TOGETHER_MAX,
  DENIED_AT_ONCE_MAX,
  HELD_BECAUSE_KINDS,
} from '#domain/sending/consent.ts';
import { CONSENT_RISK_MAX } from '#domain/sending/consent-risk.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { SeveralDecided } from '#sending/consent/decide-several.ts';
import {
  CONSENT_ORDERS,
  type ConsentFilter,
  type ConsentRow,
  SUMMARY_GROUPS_MAX,
  type ConsentSummary as Summary,
} from '#sending/consent/find-consents.ts';

export const ConsentId = Type.String({ pattern: idPattern('consent'), description: 'Id of the request for consent.' });
export const SHA256 = '^[0-9a-f]{64}$';
export const ConsentPath = closed({ id: ConsentId });

const filters = {
  mailboxId: Type.Optional(MailboxId),
  recipient: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      pattern: SOUGHT_LINE,
      description: 'Only those about this address, or about an address of this domain.',
    }),
  ),
  heldBecause: Type.Optional(Type.Enum([...HELD_BECAUSE_KINDS])),
  createdAfter: Type.Optional(dateTime('Only those made at this time or later.')),
  createdBefore: Type.Optional(dateTime('Only those made before this time.')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: SOUGHT_LINE,
      description: 'Part of a recipient, the subject or the first words; case does not matter.',
    }),
  ),
};

export const ConsentsQuery = closed({
  status: Type.Optional(Type.Enum([...CONSENT_STATUSES])),
  order: Type.Optional(
    Type.Enum([...CONSENT_ORDERS], {
      description:
        'Which request comes first (default newest). `risk`: the highest risk, and of the same risk the oldest.',
    }),
  ),
  ...filters,
  ...pageQuery,
});
export const ConsentSummaryQuery = closed(filters);

/** As finding them takes it. */
export const filterOf = ({
  mailboxId,
  recipient,
  heldBecause,
  createdAfter,
  createdBefore,
  q,
}: Static<typeof ConsentSummaryQuery>): ConsentFilter => ({
  mailboxId,
  recipient: recipient?.toLowerCase().replace(/^@/, ''),
  heldBecause,
  createdAfter: createdAfter === undefined ? undefined : new Date(createdAfter),
  createdBefore: createdBefore === undefined ? undefined : new Date(createdBefore),
  words: q,
});

const count = Type.Integer({ description: 'Requests of the group.' });
export const ConsentSummary = closed(
  {
    total: Type.Integer({ description: 'All requests that match.' }),
    oldestAt: nullable(dateTime('When the oldest of them was made; null: there is none.')),
    byMailbox: Type.Array(
      closed({ mailboxId: MailboxId, address: Type.String(), count }, { title: 'ConsentsOfMailbox' }),
      { description: `The largest groups first, at most ${SUMMARY_GROUPS_MAX}.` },
    ),
    byRecipient: Type.Array(closed({ recipient: Type.String(), count }, { title: 'ConsentsOfRecipient' }), {
      description: `The same by recipient, at most ${SUMMARY_GROUPS_MAX}. A request about two recipients is in two groups.`,
    }),
    byReason: Type.Array(
      closed({ heldBecause: Type.Enum([...HELD_BECAUSE_KINDS]), count }, { title: 'ConsentsOfReason' }),
    ),
  },
  { title: 'ConsentSummary' },
);

export const summaryExample = {
  total: 2,
  oldestAt: '2026-11-21T09:16:02.481Z',
  byMailbox: [{ mailboxId: mailboxExample.id, address: mailboxExample.address, count: 2 }],
  byRecipient: [{ recipient: 'ada@customer.example', count: 2 }],
  byReason: [{ heldBecause: 'first_contact', count: 2 }],
};

export const presentSummary = ({ oldestAt, ...groups }: Summary): Static<typeof ConsentSummary> => ({
  total: groups.total,
  oldestAt: timeOf(oldestAt),
  byMailbox: groups.byMailbox.map((each) => ({ ...each })),
  byRecipient: groups.byRecipient.map((each) => ({ ...each })),
  byReason: groups.byReason.map((each) => ({ ...each })),
});

export const Consent = closed(
  {
    id: ConsentId,
    mailboxId: MailboxId,
    messageId: MessageId,
    status: Type.Enum([...CONSENT_STATUSES], { description: 'Expiry is a denial by the service.' }),
    recipients: Type.Array(Type.String(), { description: 'The recipients it is about.' }),
    heldBecause: Type.Enum([...HELD_BECAUSE_KINDS], {
      description: 'Why the message waits; `not_recorded`: the request is older than this field.',
    }),
    risk: Type.Integer({
      minimum: 0,
      maximum: CONSENT_RISK_MAX,
      description:
        '3: it carries text or files of other mail. 2: its signals are suspicious, or its reply would go elsewhere. 1: it has other signals, or is over a budget. 0: none of these.',
    }),
    subject: Type.String(),
    preview: Type.String({ description: 'First words of the text.' }),
    createdAt: dateTime(),
    expiresAt: dateTime('The service denies the request after this time.'),
    resubmits: nullable({
      ...ConsentId,
      description: 'The request that was sent back before; this message is the changed one. Null: none.',
    }),
    undoUntil: nullable(
      dateTime('Until then the approval can be taken back, and the message waits; null: it cannot be taken back.'),
    ),
    firstApproval: nullable(
      closed(
        { by: Actor, at: dateTime() },
        {
          title: 'FirstApproval',
          description: 'A rule asks for two persons, and one has approved. Null: one is enough, or nobody has.',
        },
      ),
    ),
    decision: nullable(
      closed(
        {
          scope: nullable(Type.Enum([...CONSENT_SCOPES], { description: 'Of an approval.' })),
          reason: nullable(Type.String({ description: 'Of a denial; the comment of a returned message.' })),
          returned: Type.Boolean({ description: 'It was sent back with a comment; its status is `denied`.' }),
          decidedAt: dateTime(),
          decidedBy: Actor,
          changes: nullable(ConsentChanges),
        },
        { title: 'ConsentDecision' },
      ),
    ),
  },
  { title: 'Consent' },
);
export const ConsentList = listOf(Consent, 'ConsentList');

const ConsentEdit = closed(
  {
    subject: Type.Optional(subject),
    text: Type.Optional(
      nullable(Type.String({ pattern: ANY_TEXT, description: 'Give `html` too if the message has both.' })),
    ),
    html: Type.Optional(
      nullable(Type.String({ pattern: ANY_TEXT, description: 'Give `text` too if the message has both.' })),
    ),
    to: Type.Optional(addresses('Everybody in To afterwards.')),
    cc: Type.Optional(addresses('Everybody in Cc afterwards.')),
    bcc: Type.Optional(addresses('All other recipients of the changed message.')),
  },
  {
    title: 'ConsentEdit',
    minProperties: 1,
    description:
      'Changes the message and approves the result. Omitted fields do not change; null removes text or HTML. Attachments, threading and other header fields do not change.',
  },
);

const shownSha256 = Type.Optional(
  Type.String({
    pattern: SHA256,
    description:
      'The `sha256` of the message that the person was shown. If the message has changed since, nothing is decided and the answer is a conflict.',
  }),
);

export const ApproveConsent = closed(
  {
    edit: Type.Optional(ConsentEdit),
    sha256: shownSha256,
    scope: Type.Enum([...CONSENT_SCOPES], {
      description:
        '`message`: this message, and replies to its recipients in its thread, which contain nothing of other mail. `address`, `domain`: from now on its recipients, or everybody at their domains; this also releases other held messages that it covers.',
    }),
  },
  { title: 'ConsentApproval' },
);
export const DenyConsent = closed(
  {
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: CONSENT_REASON_MAX_CHARACTERS, pattern: LINES })),
    sha256: shownSha256,
  },
  { title: 'ConsentDenial' },
);
export const ReturnConsent = closed(
  {
    comment: Type.String({
      minLength: 1,
      maxLength: CONSENT_REASON_MAX_CHARACTERS,
      pattern: LINES,
      description: 'What the agent should change.',
    }),
    sha256: shownSha256,
  },
  { title: 'ConsentReturn' },
);

export const DenySeveral = closed(
  {
    consentIds: Type.Array(ConsentId, {
      minItems: 1,
      maxItems: DENIED_AT_ONCE_MAX,
      description: 'Those that a person was shown: requests that came later are not denied.',
    }),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: CONSENT_REASON_MAX_CHARACTERS, pattern: LINES })),
  },
  { title: 'SeveralDenials' },
);
export const DeniedSeveral = closed(
  {
    denied: Type.Array(ConsentId),
    leftOut: Type.Array(ConsentId, { description: 'Decided or expired before, or not of this organization.' }),
  },
  { title: 'SeveralDenied' },
);

export const DecideSeveral = closed(
  {
    decision: Type.Enum(['approve', 'deny'], { description: '`approve`: with the scope `message`.' }),
    shown: Type.Array(
      closed({ consentId: ConsentId, sha256: Type.String({ pattern: SHA256 }) }, { title: 'ShownRequest' }),
      {
        minItems: 1,
        maxItems: DECIDED_TOGETHER_MAX,
        description: 'The requests whose whole messages a person was shown, each with the `sha256` of what was shown.',
      },
    ),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CONSENT_REASON_MAX_CHARACTERS,
        pattern: LINES,
        description: 'Of a denial.',
      }),
    ),
  },
  { title: 'SeveralDecisions' },
);
export const DecidedSeveral = closed(
  {
    decided: Type.Array(Consent),
    leftOut: Type.Array(
      closed(
        {
          consentId: ConsentId,
          code: Type.String({ description: 'The code of the error that a decision about this one alone would get.' }),
          message: Type.String({ description: 'Why it was not decided, for people.' }),
        },
        { title: 'RequestLeftOut' },
      ),
    ),
  },
  { title: 'SeveralDecided' },
);

/** A request that waits. */
export const pendingExample = {
  id: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'pending',
  recipients: ['ada@customer.example'],
  heldBecause: 'first_contact',
  risk: 0,
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  createdAt: '2026-11-21T09:16:02.481Z',
  expiresAt: '2026-11-28T09:16:02.481Z',
  resubmits: null,
  undoUntil: null,
  firstApproval: null,
  decision: null,
};

/** One that was decided. */
export const decidedExample = (status: string, scope: string | null, reason: string | null, returned = false) => ({
  ...pendingExample,
  status,
  decision: {
    scope,
    reason,
    returned,
    decidedAt: '2026-11-21T09:40:11.020Z',
    decidedBy: {
      type: 'user',
      id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
      name: 'Grace Hill',
      email: 'grace@acme.example',
      address: null,
    },
    changes: null,
  },
});

export const consentMessageExample = {
  consent: pendingExample,
  mailbox: {
    id: mailboxExample.id,
    address: mailboxExample.address,
    name: mailboxExample.name,
    purpose: mailboxExample.purpose,
  },
  heldBecause: {
    kind: 'first_contact',
    sentence: 'First contact with ada@customer.example.',
    recipients: ['ada@customer.example'],
  },
  from: `Order desk <${mailboxExample.address}>`,
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  bcc: [],
  replyTo: [],
  recipients: [
    {
      address: 'ada@customer.example',
      as: 'to',
      asked: true,
      status: 'queued',
      domain: 'customer.example',
      toAddress: { count: 0, newest: [] },
      toDomain: {
        count: 1,
        newest: [
          {
            messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y7',
            mailboxId: mailboxExample.id,
            subject: 'Your order 4690',
            sentAt: '2026-11-12T14:03:50.114Z',
          },
        ],
      },
    },
  ],
  subject: 'Your order 4711',
  text: 'Dear Ada, your order is on its way.',
  html: null,
  textOfHtml: null,
  textAndHtml: null,
  truncated: false,
  attachments: [
    {
      id: '2',
      filename: 'invoice-4711.pdf',
      contentType: 'application/pdf',
      sizeBytes: 48_213,
      inline: false,
      contentId: null,
      risks: [],
    },
  ],
  answers: null,
  carried: [],
  opaqueLinks: [],
  unknownSenders: [],
  earlierVersions: [],
  decides: { names: ['Grace Hill'], persons: 1, everyMemberFrom: '2026-11-21T17:16:02.481Z' },
  submittedAt: '2026-11-21T09:16:02.481Z',
  sendAt: null,
  sizeBytes: 66_904,
  sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  hashMatches: true,
};

export const presentConsent = (row: ConsentRow): Static<typeof Consent> => ({
  id: row.id,
  mailboxId: row.mailboxId,
  messageId: row.messageId,
  status: row.status,
  recipients: [...row.recipients],
  heldBecause: row.heldBecause,
  risk: row.risk,
  subject: row.subject,
  preview: row.preview,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  resubmits: row.resubmits,
  undoUntil: timeOf(row.undoUntil),
  firstApproval: row.firstApproval === null ? null : { by: { ...row.firstApproval.by }, at: row.firstApproval.at },
  decision:
    row.decidedAt === null
      ? null
      : {
          scope: row.scope,
          reason: row.reason,
          returned: row.returned,
          decidedAt: row.decidedAt.toISOString(),
          decidedBy: { ...(row.decidedBy ?? SYSTEM_ACTOR) },
          changes: presentChanges(row.changes),
        },
});

export const presentSeveral = ({ decided, leftOut }: SeveralDecided): Static<typeof DecidedSeveral> => ({
  decided: decided.map(presentConsent),
  leftOut: leftOut.map((each) => ({ ...each })),
});
