import Type, { type Static } from 'typebox';
import {
  budget,
  closed,
  dateTime,
  listOf,
  MailRetentionSchema,
  MessagesBudget,
  NewRecipientsBudget,
  nullable,
  SendingBudgetsSchema,
  SendingToday,
} from '#api/http/schema-parts.ts';
import { InvitationWithToken } from '#api/members/schema.ts';
import { Email } from '#api/sessions/schema.ts';
import type { OrganizationRow } from '#db/entities.ts';
import { SECOND_FACTOR_POLICIES } from '#domain/access/second-factor.ts';
import { idPattern } from '#domain/ids.ts';
import { ALIASES_BY_TOKEN_DEFAULT, ALIASES_BY_TOKEN_MAX } from '#domain/mail/aliases.ts';
import { KEPT_FOR_EVER } from '#domain/mail/mail-retention.ts';
import { NEW_ORGANIZATION_SCREENING, SCREENING_MODES } from '#domain/mail/screening.ts';
import {
  CONSENT_EXPIRES_DAYS_DEFAULT,
  CONSENT_EXPIRES_DAYS_MAX,
  ORGANIZATION_NAME_MAX,
  PLAN_NAMES,
  PLANS,
  SLUG_MAX,
  SLUG_PATTERN,
} from '#domain/organizations/plans.ts';
import { SUSPENDED_RECEIVE, SUSPENSION_REASON_MAX } from '#domain/organizations/suspension.ts';
import { CARRIED_MAIL_DEFAULT, CARRIED_MAIL_MODES } from '#domain/sending/carried-mail.ts';
import {
  OUTBOUND_CONSENT_DEFAULT,
  OUTBOUND_CONSENT_MODES,
  UNDO_DEFAULT_SECONDS,
  UNDO_MAX_SECONDS,
} from '#domain/sending/consent.ts';
import { SENDING_MODES } from '#domain/sending/sending-brakes.ts';
import {
  ASK_AFTER_READING_MAX_MINUTES,
  NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES,
} from '#domain/sending/unknown-senders.ts';

const outboundConsent = Type.Enum(OUTBOUND_CONSENT_MODES, {
  description: 'When mail to an address outside needs a decision of a person: never, at the first contact, always.',
});
const consentExpiresInDays = Type.Integer({
  minimum: 1,
  maximum: CONSENT_EXPIRES_DAYS_MAX,
  description: 'Days after which an undecided request is denied.',
});
const repliesNeedApproval = Type.Boolean({
  description:
    'In mode `first_contact`: whether replies to people who wrote first wait for a person too. Otherwise a reply to a received message that passed DMARC is sent if it goes to exactly its author and contains nothing of other mail.',
});
const carriedMail = Type.Enum([...CARRIED_MAIL_MODES], {
  description:
    'What happens to mail to an address outside that carries passages, codes or files of other mail of the organization, which its recipients neither wrote nor got: nothing (`off`), it is held for a person, or refused. A mailbox may have a mode of its own.',
});
const askAfterReadingMinutes = Type.Integer({
  minimum: 0,
  maximum: ASK_AFTER_READING_MAX_MINUTES,
  description: `So many minutes after mail of a sender whom nobody released was read with a token, mail to anybody outside but that sender waits for a person; 0: it does not. A mailbox may have a number of its own. New organizations have ${NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES}.`,
});
const aliasesByToken = Type.Integer({
  minimum: 0,
  maximum: ALIASES_BY_TOKEN_MAX,
  description: 'So many aliases the tokens of each mailbox may have made, dropped ones not counted; 0: none.',
});
const undoSeconds = Type.Integer({
  minimum: 0,
  maximum: UNDO_MAX_SECONDS,
  description:
    'An approved message waits so many seconds before it is sent, in which the approval can be taken back; 0: it is sent at once.',
});
const consentByApiKey = Type.Boolean({
  description: 'Whether an API key may decide; otherwise only a signed-in person.',
});

const secondFactor = Type.Enum([...SECOND_FACTOR_POLICIES], {
  description:
    'What sessions without a second factor may do: everything (`off`); read and change nothing (`approvers`: people who decide need one); nothing (`everyone`). The links of notices are no second factor. It can be turned on by a session with a second factor.',
});

const screening = Type.Enum([...SCREENING_MODES], {
  description: `Which arriving mail waits until a member has decided about it: \`off\`: none; \`suspicious\`: mail with suspicious combinations of signals; \`first_senders\`: that, and all mail of unknown senders. A mailbox may have a mode of its own. New organizations have \`${NEW_ORGANIZATION_SCREENING}\`.`,
});

const sendingStopped = Type.Boolean({
  description:
    'No mailbox sends anything; queued messages wait and are sent when the stop ends. The request is answered when no message is being transmitted any more, after ten seconds at most.',
});

const NEW_MAILBOXES = 'of mailboxes created from now on, by anybody. A person may loosen it on a mailbox afterwards.';
const newMailboxSendingMode = Type.Enum([...SENDING_MODES], { description: `The \`sendingMode\` ${NEW_MAILBOXES}` });
const newMailboxDailyMessages = budget(`The budget \`messagesPerDay\` ${NEW_MAILBOXES}`);
const newMailboxDailyNewRecipients = budget(`The budget \`newRecipientsPerDay\` ${NEW_MAILBOXES}`);

const suspendedReceive = Type.Enum([...SUSPENDED_RECEIVE], {
  description: 'How mail to it is answered: `defer` with 4xx, so that other hosts try again later; `reject` with 5xx.',
});

const organizationFields = {
  id: Type.String({ pattern: idPattern('organization') }),
  name: Type.String(),
  slug: Type.String(),
  plan: Type.Enum(PLAN_NAMES),
  settings: closed(
    {
      outboundConsent,
      consentExpiresInDays,
      repliesNeedApproval,
      carriedMail,
      askAfterReadingMinutes,
      undoSeconds,
      aliasesByToken,
      consentByApiKey,
      secondFactor,
      screening,
      retention: MailRetentionSchema,
      sendingStopped,
      dailyMessages: MessagesBudget,
      dailyNewRecipients: NewRecipientsBudget,
      newMailboxSendingMode,
      newMailboxDailyMessages,
      newMailboxDailyNewRecipients,
    },
    { title: 'OrganizationSettings' },
  ),
  limits: closed(
    {
      mailboxes: nullable(Type.Integer()),
      webhookEndpoints: nullable(Type.Integer()),
      domains: nullable(Type.Integer()),
      quotaBytesPerMailbox: Type.Integer(),
      aliasesPerMailbox: Type.Integer({ description: 'Those that are not dropped.' }),
      apiRequestsPerMinute: nullable(Type.Integer()),
    },
    { title: 'OrganizationLimits', description: 'What the plan allows; null: no limit.' },
  ),
  defaultDomain: Type.String({ description: 'Domain of mailboxes that are created without one.' }),
  suspension: nullable(
    closed(
      { since: dateTime(), receive: suspendedReceive, reason: nullable(Type.String()) },
      { title: 'OrganizationSuspension', description: 'Set by the operator; null: not suspended.' },
    ),
  ),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const Organization = closed(organizationFields, { title: 'Organization' });
export const OrganizationList = listOf(Organization, 'OrganizationList');

export const OrganizationWithInvitation = closed(
  { ...organizationFields, invitation: nullable(InvitationWithToken) },
  { title: 'OrganizationWithInvitation' },
);

export const CreateOrganization = closed(
  {
    name: Type.String({ minLength: 1, maxLength: ORGANIZATION_NAME_MAX }),
    slug: Type.Optional(
      Type.String({ pattern: SLUG_PATTERN, maxLength: SLUG_MAX, description: 'Default: made of the name.' }),
    ),
    plan: Type.Optional(Type.Enum(PLAN_NAMES, { description: 'Default: free.' })),
    ownerEmail: Email,
  },
  { title: 'NewOrganization' },
);

export const UpdateOrganization = closed(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: ORGANIZATION_NAME_MAX })),
    slug: Type.Optional(Type.String({ pattern: SLUG_PATTERN, maxLength: SLUG_MAX })),
    settings: Type.Optional(
      closed(
        {
          outboundConsent: Type.Optional(outboundConsent),
          consentExpiresInDays: Type.Optional(consentExpiresInDays),
          repliesNeedApproval: Type.Optional(repliesNeedApproval),
          carriedMail: Type.Optional(carriedMail),
          askAfterReadingMinutes: Type.Optional(askAfterReadingMinutes),
          undoSeconds: Type.Optional(undoSeconds),
          aliasesByToken: Type.Optional(aliasesByToken),
          consentByApiKey: Type.Optional(consentByApiKey),
          secondFactor: Type.Optional(secondFactor),
          screening: Type.Optional(screening),
          retention: Type.Optional(MailRetentionSchema),
          sendingStopped: Type.Optional(sendingStopped),
          dailyMessages: Type.Optional(MessagesBudget),
          dailyNewRecipients: Type.Optional(NewRecipientsBudget),
          newMailboxSendingMode: Type.Optional(newMailboxSendingMode),
          newMailboxDailyMessages: Type.Optional(newMailboxDailyMessages),
          newMailboxDailyNewRecipients: Type.Optional(newMailboxDailyNewRecipients),
        },
        { title: 'OrganizationSettingsChanges', minProperties: 1, description: 'Omitted settings do not change.' },
      ),
    ),
  },
  { title: 'OrganizationChanges', minProperties: 1 },
);

export const ChangePlan = closed({ plan: Type.Enum(PLAN_NAMES) }, { title: 'PlanChange' });

export const SuspendOrganization = closed(
  {
    suspended: Type.Boolean(),
    receive: Type.Optional(suspendedReceive),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: SUSPENSION_REASON_MAX, description: 'For the audit log and operators.' }),
    ),
  },
  { title: 'OrganizationSuspensionChange', description: '`receive` is `defer` when left out.' },
);

export const OrganizationSending = closed(
  {
    stopped: Type.Boolean({ description: '`settings.sendingStopped`.' }),
    budgets: SendingBudgetsSchema,
    today: SendingToday,
    mailboxesStopped: Type.Integer({ description: 'Mailboxes with a stop of their own.' }),
    messagesStopped: Type.Integer({ description: 'Messages that wait for the end of a stop.' }),
  },
  { title: 'OrganizationSending' },
);

export function presentOrganization(row: OrganizationRow, defaultDomain: string): Static<typeof Organization> {
  const plan = PLANS[row.plan];
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    plan: row.plan,
    settings: {
      outboundConsent: row.settings.outboundConsent ?? OUTBOUND_CONSENT_DEFAULT,
      consentExpiresInDays: row.settings.consentExpiresInDays ?? CONSENT_EXPIRES_DAYS_DEFAULT,
      repliesNeedApproval: row.settings.repliesNeedApproval ?? false,
      carriedMail: row.settings.carriedMail ?? CARRIED_MAIL_DEFAULT,
      askAfterReadingMinutes: row.settings.askAfterReadingMinutes ?? 0,
      undoSeconds: row.settings.undoSeconds ?? UNDO_DEFAULT_SECONDS,
      aliasesByToken: row.settings.aliasesByToken ?? ALIASES_BY_TOKEN_DEFAULT,
      consentByApiKey: row.settings.consentByApiKey ?? false,
      secondFactor: row.settings.secondFactor ?? 'off',
      screening: row.settings.screening ?? 'off',
      retention: { ...KEPT_FOR_EVER, ...row.settings.retention },
      sendingStopped: row.settings.sendingStopped ?? false,
      dailyMessages: row.settings.dailyMessages ?? null,
      dailyNewRecipients: row.settings.dailyNewRecipients ?? null,
      newMailboxSendingMode: row.settings.newMailboxSendingMode ?? 'normal',
      newMailboxDailyMessages: row.settings.newMailboxDailyMessages ?? null,
      newMailboxDailyNewRecipients: row.settings.newMailboxDailyNewRecipients ?? null,
    },
    limits: {
      mailboxes: plan.maxMailboxes,
      webhookEndpoints: plan.maxWebhookEndpoints,
      domains: plan.maxDomains,
      quotaBytesPerMailbox: plan.quotaBytesPerMailbox,
      aliasesPerMailbox: plan.maxAliasesPerMailbox,
      apiRequestsPerMinute: plan.apiRequestsPerMinute,
    },
    defaultDomain,
    suspension:
      row.suspendedAt instanceof Date
        ? {
            since: row.suspendedAt.toISOString(),
            receive: row.suspendedReceive ?? 'defer',
            reason: row.suspendedReason ?? null,
          }
        : null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
