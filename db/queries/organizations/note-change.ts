import type { OrganizationChangeKind } from '#domain/webhooks/organization-stream.ts';

/**
 * SQL that notes a change for the streams of organizations, for tables without a trigger that does. It belongs into the
 * statement that makes the change, as the last part of its `with` or as one of them.
 *
 * @param rows name of the part that returns what was changed, with its `organization_id`; null: nobody follows it
 * @param subject column of the id that the event names
 */
export const noteChange = (kind: OrganizationChangeKind, rows: string, subject: string): string => /* sql */ `
  insert into organization_change (organization_id, kind, subject_id)
  select distinct organization_id, '${kind}', ${subject} from ${rows} where organization_id is not null`;
