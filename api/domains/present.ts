import type { Static } from 'typebox';
import { zoneFile } from '#core/mailboxes/domain-records.ts';
import { currentRecords } from '#core/mailboxes/domains.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { DomainRecord, MailDomainRow } from '#db/entities/mail-domain.ts';
import type { DefaultDomain, Domain } from './schema.ts';

const presentRecords = (records: readonly DomainRecord[]) => ({
  records: records.map(({ purpose, type, name, value, required, status, found }) => ({
    purpose,
    type,
    name,
    value,
    required,
    status,
    found: [...found],
  })),
  zoneFile: zoneFile(records),
});

export const presentDomain = (row: MailDomainRow, settings: Settings): Static<typeof Domain> => ({
  id: row.id,
  name: row.name,
  status: row.status,
  ...presentRecords(currentRecords(settings, row)),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  verifiedAt: row.verifiedAt?.toISOString() ?? null,
  checkedAt: row.checkedAt?.toISOString() ?? null,
});

export const presentDefaultDomain = (domain: {
  readonly name: string;
  readonly records: readonly DomainRecord[];
}): Static<typeof DefaultDomain> => ({ name: domain.name, ...presentRecords(domain.records) });
