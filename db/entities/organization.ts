import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OutboundConsentMode } from '../../domain/consent.ts';
import { PLAN_NAMES } from '../../domain/plans.ts';

/** Settings of an organization; what is absent has its default. */
export interface OrganizationSettings {
  outboundConsent?: OutboundConsentMode;
  consentExpiresInDays?: number;
  consentByApiKey?: boolean;
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
