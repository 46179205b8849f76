import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Organization } from './organization.ts';

export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;

/** One DNS record a domain needs, with the result of the last check. */
export interface DomainRecord {
  purpose: 'ownership' | 'mx' | 'spf' | 'dkim' | 'dmarc' | 'imaps' | 'pop3s' | 'submissions' | 'submission';
  type: 'MX' | 'TXT' | 'SRV';
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
