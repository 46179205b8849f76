import type { ActiveOrganization } from '#api/http/principal.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type OrganizationColumns, organizationOf } from './organization-columns.ts';

export const wrongOrganization = (message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: 'header/x-organization-id', message }] });

/** The organization named by x-organization-id, or the only one there is. */
export function chooseOrganization(
  rows: readonly OrganizationColumns[],
  chosen: string | undefined,
): ActiveOrganization {
  const [row, another] = rows;
  if (row === undefined && chosen !== undefined) throw wrongOrganization('does not name one of your organizations');
  if (row === undefined)
    throw new CatalogueError('forbidden', 'You are not a member of any organization.', {
      fix: 'Ask an admin of an organization to invite you, and accept the invitation.',
    });
  if (another !== undefined && chosen === undefined)
    throw wrongOrganization('is required, because there are several organizations');
  return organizationOf(row);
}
