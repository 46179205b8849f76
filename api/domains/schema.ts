import Type from 'typebox';
import { DOMAIN_STATUSES } from '../../db/entities/mail-domain.ts';
import { DOMAIN_NAME_MAX } from '../../domain/domain-name.ts';
import { idPattern } from '../../domain/ids.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const DomainId = Type.String({ pattern: idPattern('domain') });

export const DomainParams = closed({ id: DomainId });
export const CreateDomain = closed({ name: Type.String({ minLength: 1, maxLength: DOMAIN_NAME_MAX }) });

const Record = closed({
  purpose: Type.Enum(['ownership', 'mx', 'spf', 'dkim', 'dmarc', 'imaps', 'pop3s', 'submissions', 'submission']),
  type: Type.Enum(['MX', 'TXT', 'SRV']),
  name: Type.String(),
  value: Type.String({
    description: 'What the record shall say; MX as `preference host`, SRV as `priority weight port host`.',
  }),
  required: Type.Boolean({
    description:
      'Whether the domain is verified only with it; the others serve sending and the set-up of mail clients.',
  }),
  status: Type.Enum(['pending', 'found', 'missing', 'wrong'], {
    description: '`pending`: not looked for yet, or DNS gave no answer.',
  }),
  found: Type.Array(Type.String(), { description: 'What DNS said at the last look.' }),
});

export const Domain = closed(
  {
    id: DomainId,
    name: Type.String(),
    status: Type.Enum(DOMAIN_STATUSES),
    records: Type.Array(Record),
    zoneFile: Type.String({ description: 'All records as text of a zone file.' }),
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
export const DomainList = listOf(Domain);
