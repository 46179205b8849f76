/** The management tables as MikroORM's entities, for everything that is changed seldom (docs/adr/0007). */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type ApiScope, MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import type { SecondFactorPolicy } from '#domain/access/second-factor.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import { SCREENING_MODES, type ScreeningMode } from '#domain/mail/screening.ts';
import { MAILBOX_STATUSES, SYNC_STATUSES, UNAUTHENTICATED_MAIL } from '#domain/organizations/mailboxes.ts';
import { PLAN_NAMES } from '#domain/organizations/plans.ts';
import { SUSPENDED_RECEIVE } from '#domain/organizations/suspension.ts';
import { CARRIED_MAIL_MODES, type CarriedMailMode } from '#domain/sending/carried-mail.ts';
import type { OutboundConsentMode } from '#domain/sending/consent.ts';
import { SENDING_MODES, type SendingMode } from '#domain/sending/sending-brakes.ts';
import { DISABLED_REASONS } from '#domain/webhooks/delivery-status.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

/** An organization API key. Only its hash is stored; a deleted row is a revoked key. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    name: p.text(),
    keyHash: p.blob().unique(),
    /** First characters of the key, to distinguish keys in a list. */
    keyHint: p.text(),
    scopes: p.array<ApiScope>(),
    /** Null: every mailbox. */
    mailboxGroups: p.array<string>().nullable(),
    expiresAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
    /** User id, or null for the key of the first start. */
    createdBy: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type ApiKeyRow = InferEntity<typeof ApiKey>;

/** An offer to join an organization, accepted with the token of the link. */
export const Invitation = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    email: p.text(),
    role: p.enum(MEMBER_ROLES),
    tokenHash: p.blob().unique(),
    /** User id. */
    invitedBy: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
    acceptedAt: p.datetime().nullable(),
  },
});
export type InvitationRow = InferEntity<typeof Invitation>;

export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;

/** One DNS record a domain needs, with the result of the last check. */
export interface DomainRecord {
  purpose:
    | 'ownership'
    | 'mx'
    | 'spf'
    | 'dkim'
    | 'dmarc'
    | 'tls_rpt'
    | 'imaps'
    | 'pop3s'
    | 'submissions'
    | 'submission'
    | 'mta_sts'
    | 'mta_sts_host';
  type: 'MX' | 'TXT' | 'SRV' | 'CNAME';
  name: string;
  value: string;
  required: boolean;
  status: 'pending' | 'found' | 'missing' | 'wrong';
  found: string[];
}

/** A customer's own mail domain. The instance's default domain is a setting, not a row. */
export const MailDomain = defineEntity({
  name: 'MailDomain',
  tableName: 'domains',
  uniques: [{ properties: ['organization', 'name'] }],
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    name: p.text(),
    status: p.enum(DOMAIN_STATUSES).default('pending'),
    verificationToken: p.text(),
    dkimSelector: p.text(),
    dkimPublicKey: p.text(),
    dkimPrivateKeySealed: p.text(),
    /** Gets mail to unknown addresses of the domain; null: it is refused. */
    catchAllMailboxId: p.text().nullable(),
    /** When the key that signs was made; null: with the domain. */
    dkimKeyCreatedAt: p.datetime().nullable(),
    records: p.json<DomainRecord[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    verifiedAt: p.datetime().nullable(),
    checkedAt: p.datetime().nullable(),
  },
});
export type MailDomainRow = InferEntity<typeof MailDomain>;

/** An agent's mailbox: one address, one token. Its mail and quota counters are in the tables of the mail store. */
export const Mailbox = defineEntity({
  name: 'Mailbox',
  tableName: 'mailboxes',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    localPart: p.text(),
    domain: p.text(),
    /** `localPart@domain`, lower-cased; unique among mailboxes that are not deleted. */
    address: p.text(),
    name: p.text(),
    purpose: p.text().nullable(),
    groupName: p.text().nullable(),
    status: p.enum(MAILBOX_STATUSES),
    syncStatus: p.enum(SYNC_STATUSES),
    /** Of the first token; a trigger keeps its row of `mailbox_token`, which logins read. */
    tokenHash: p.blob().unique(),
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    unauthenticatedMail: p.enum(UNAUTHENTICATED_MAIL).defaultRaw(`'junk'`),
    /** Whether mail to its address with a tag reaches it. */
    plusAddresses: p.boolean().defaultRaw('true'),
    /** Null: as the organization. */
    screening: p.enum(SCREENING_MODES).nullable(),
    carriedMail: p.enum(CARRIED_MAIL_MODES).nullable(),
    askAfterReadingMinutes: p.integer().nullable(),
    /** Null: as the organization. */
    retention: p.json<MailRetention>().nullable(),
    /** From then on it is refused on every protocol (`queries/mailboxes/status-now.ts`). */
    expiresAt: p.datetime().nullable(),
    sendingMode: p.enum(SENDING_MODES).defaultRaw(`'normal'`),
    messagesPerDay: p.integer().nullable(),
    newRecipientsPerDay: p.integer().nullable(),
    clientId: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    lastActivityAt: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
  },
});
export type MailboxRow = InferEntity<typeof Mailbox>;

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  uniques: [{ properties: ['organization', 'user'] }],
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    user: () => p.manyToOne(User).ref(),
    role: p.enum(MEMBER_ROLES),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type MemberRow = InferEntity<typeof Member>;

/** Settings of an organization; absent ones have their default. */
export interface OrganizationSettings {
  outboundConsent?: OutboundConsentMode;
  consentExpiresInDays?: number;
  /** Replies to people who wrote first wait for a person too. */
  repliesNeedApproval?: boolean;
  /** What happens to mail that carries passages of other mail. */
  carriedMail?: CarriedMailMode;
  /** Minutes; absent: 0. */
  askAfterReadingMinutes?: number;
  /** How long an approval can be taken back. */
  undoSeconds?: number;
  consentByApiKey?: boolean;
  /** What sessions without a second factor may do. Absent: everything. */
  secondFactor?: SecondFactorPolicy;
  /** Absent: off. */
  screening?: ScreeningMode;
  /** Of mailboxes without their own. Absent: mail is kept. */
  retention?: MailRetention;
  /** Aliases that the tokens of each mailbox may make. */
  aliasesByToken?: number;
  /** Nothing leaves any mailbox. */
  sendingStopped?: boolean;
  /** Budgets of a day; null and absent: no limit. */
  dailyMessages?: number | null;
  dailyNewRecipients?: number | null;
  /** Brakes that a mailbox has from its creation on. */
  newMailboxSendingMode?: SendingMode;
  newMailboxDailyMessages?: number | null;
  newMailboxDailyNewRecipients?: number | null;
}

export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    slug: p.text().unique(),
    plan: p.enum(PLAN_NAMES),
    settings: p.json<OrganizationSettings>().defaultRaw(`'{}'`),
    /** Since then the operator has suspended it (`core/accounts/suspension.ts`). */
    suspendedAt: p.datetime().nullable(),
    suspendedReceive: p.enum(SUSPENDED_RECEIVE).nullable(),
    suspendedReason: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type OrganizationRow = InferEntity<typeof Organization>;

/** A signed-in person's bearer session. Only the hash of its token is stored. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.text().primary(),
    user: () => p.manyToOne(User).ref(),
    tokenHash: p.blob().unique(),
    /** Where and with what the person signed in. */
    ipAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    /** When the person proved a second factor for it; null: not at all. */
    secondFactorAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    lastUsedAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});
export type SessionRow = InferEntity<typeof Session>;

/** A person who signs in. Belongs to organizations through members. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.text().primary(),
    /** Lower-cased. */
    email: p.text().unique(),
    name: p.text(),
    /** argon2id in PHC form; see core/accounts/sign-in.ts. */
    passwordHash: p.text(),
    firstSignedInAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type UserRow = InferEntity<typeof User>;

/** A customer's HTTPS destination. Deleted rows stay (with `deletedAt`) so that waiting deliveries can read it. */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    /** Null: organization scope. Never changes. */
    mailbox: () => p.manyToOne(Mailbox).ref().nullable(),
    url: p.text(),
    eventTypes: p.array<EventType>(),
    description: p.text().nullable(),
    active: p.boolean().default(true),
    disabledReason: p.enum(DISABLED_REASONS).nullable(),
    authHeaderName: p.text().nullable(),
    authHeaderValueSealed: p.text().nullable(),
    secretSealed: p.text(),
    /** `whsec_` and the first characters, to distinguish secrets. */
    secretPrefix: p.text(),
    previousSecretSealed: p.text().nullable(),
    previousSecretExpiresAt: p.datetime().nullable(),
    /** Deliveries have `v1a` signatures too. */
    publicKeySignature: p.boolean().default(false),
    /** Events of received mail have its codes and links. */
    includeExtracts: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    deletedAt: p.datetime().nullable(),
    lastSuccessAt: p.datetime().nullable(),
    failingSince: p.datetime().nullable(),
    /** Until then a worker considers it slow: its deliveries are not put into fan-outs. */
    troubledUntil: p.datetime().nullable(),
    /** Earlier answers came from another server. */
    urlChangedAt: p.datetime().nullable(),
  },
});
export type WebhookEndpointRow = InferEntity<typeof WebhookEndpoint>;

/** All entities, for MikroORM's discovery. */
export const entities = [ApiKey, Invitation, MailDomain, Mailbox, Member, Organization, Session, User, WebhookEndpoint];
