import Type, { type Static } from 'typebox';
import { closed, dateTime, listOf, nullable, timeOf } from '#api/http/schema-parts.ts';
import type { DkimRecord } from '#core/mailboxes/dkim-keys.ts';
import { zoneFile } from '#core/mailboxes/domain-records.ts';
import { currentRecords } from '#core/mailboxes/domains.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { DOMAIN_STATUSES, type DomainRecord, type MailDomainRow } from '#db/entities.ts';
import { idPattern } from '#domain/ids.ts';
import { DOMAIN_NAME_MAX } from '#domain/mail/domain-names.ts';

const DomainId = Type.String({ pattern: idPattern('domain') });

export const DomainParams = closed({ id: DomainId });
export const CreateDomain = closed(
  { name: Type.String({ minLength: 1, maxLength: DOMAIN_NAME_MAX }) },
  { title: 'NewDomain' },
);

export const UpdateDomain = closed(
  {
    catchAllMailboxId: nullable(
      Type.String({
        pattern: idPattern('mailbox'),
        description: 'A mailbox of the organization; null: mail to unknown addresses is refused.',
      }),
    ),
  },
  { title: 'DomainChanges' },
);

const Record = closed(
  {
    purpose: Type.Enum([
      'ownership',
      'mx',
      'spf',
      'dkim',
      'dmarc',
      'tls_rpt',
      'imaps',
      'pop3s',
      'submissions',
      'submission',
      'mta_sts',
      'mta_sts_host',
    ]),
    type: Type.Enum(['MX', 'TXT', 'SRV', 'CNAME'], {
      description: '`CNAME`: an address record with the same address will do.',
    }),
    name: Type.String(),
    value: Type.String({
      description: 'Expected value; MX as `preference host`, SRV as `priority weight port host`.',
    }),
    required: Type.Boolean({
      description: 'Whether verification needs it; the others are for sending and for the set-up of mail clients.',
    }),
    status: Type.Enum(['pending', 'found', 'missing', 'wrong'], {
      description: '`pending`: not checked yet, or DNS gave no answer.',
    }),
    found: Type.Array(Type.String(), { description: 'Values found at the last check.' }),
  },
  { title: 'DomainRecord' },
);

export const Domain = closed(
  {
    id: DomainId,
    name: Type.String(),
    status: Type.Enum(DOMAIN_STATUSES),
    records: Type.Array(Record),
    zoneFile: Type.String({ description: 'All records as text of a zone file.' }),
    catchAllMailboxId: nullable(
      Type.String({
        pattern: idPattern('mailbox'),
        description: 'The mailbox that gets mail to unknown addresses of the domain; null: it is refused.',
      }),
    ),
    createdAt: dateTime(),
    updatedAt: dateTime(),
    verifiedAt: nullable(dateTime()),
    checkedAt: nullable(dateTime()),
  },
  { title: 'Domain' },
);
export const DefaultDomain = closed(
  {
    name: Type.String(),
    records: Type.Array(Record),
    zoneFile: Type.String({ description: 'All records as text of a zone file.' }),
  },
  { title: 'DefaultDomain' },
);
export const DomainList = listOf(Domain, 'DomainList');

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

/** @param otherDkimKeys of the domain, beside the one that signs */
export const presentDomain = (
  row: MailDomainRow,
  settings: Settings,
  otherDkimKeys: readonly DkimRecord[] = [],
): Static<typeof Domain> => ({
  id: row.id,
  name: row.name,
  status: row.status,
  ...presentRecords(currentRecords(settings, row, otherDkimKeys)),
  catchAllMailboxId: row.catchAllMailboxId ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  verifiedAt: timeOf(row.verifiedAt),
  checkedAt: timeOf(row.checkedAt),
});

export const presentDefaultDomain = (domain: {
  readonly name: string;
  readonly records: readonly DomainRecord[];
}): Static<typeof DefaultDomain> => ({ name: domain.name, ...presentRecords(domain.records) });
