import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PLAN_NAMES } from '#domain/organizations/plans.ts';
import type { OutboundConsentMode } from '#domain/sending/consent.ts';
import type { SendingMode } from '#domain/sending/sending-brakes.ts';

/** Settings of an organization; absent ones have their default. */
export interface OrganizationSettings {
  outboundConsent?: OutboundConsentMode;
  consentExpiresInDays?: number;
  /** Replies to people who wrote first wait for a person too. */
  repliesNeedApproval?: boolean;
  consentByApiKey?: boolean;
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
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type OrganizationRow = InferEntity<typeof Organization>;
