import type { Static } from 'typebox';
import type { OrganizationRow } from '#db/entities/organization.ts';
import { CONSENT_EXPIRES_DAYS_DEFAULT } from '#domain/organizations/organization-limits.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { OUTBOUND_CONSENT_DEFAULT } from '#domain/sending/consent.ts';
import type { Organization } from './schema.ts';

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
      consentByApiKey: row.settings.consentByApiKey ?? false,
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
      apiRequestsPerMinute: plan.apiRequestsPerMinute,
    },
    defaultDomain,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
