import type { Static } from 'typebox';
import { zoneFile } from '../../core/domain-records.ts';
import type { MailDomainRow } from '../../db/entities/mail-domain.ts';
import type { Domain } from './schema.ts';

export const presentDomain = (row: MailDomainRow): Static<typeof Domain> => ({
  id: row.id,
  name: row.name,
  status: row.status,
  records: row.records.map(({ purpose, type, name, value, required, status, found }) => ({
    purpose,
    type,
    name,
    value,
    required,
    status,
    found: [...found],
  })),
  zoneFile: zoneFile(row.records),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  verifiedAt: row.verifiedAt?.toISOString() ?? null,
  checkedAt: row.checkedAt?.toISOString() ?? null,
});
