/**
 * What every kind of credential needs: the organization it acts in, one refusal for all wrong ones, and a note of its last
 * use.
 */
import type { ActiveOrganization } from '#api/http/principal.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { SecondFactorPolicy } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { PlanName } from '#domain/organizations/plans.ts';

/** What a request knows of the organization it acts in, as read beside its credential. */
export interface OrganizationColumns {
  organization_id: string;
  organization_name: string;
  organization_slug: string;
  organization_plan: PlanName;
  organization_suspended: boolean;
  organization_second_factor: SecondFactorPolicy | null;
}

/** Of a table `organizations o`. */
export const ORGANIZATION_COLUMNS = `o.id as organization_id, o.name as organization_name, o.slug as organization_slug,
  o.plan as organization_plan, o.suspended_at is not null as organization_suspended,
  o.settings ->> 'secondFactor' as organization_second_factor`;

/** As the operator sees it, suspended or not. */
export const anyOrganizationOf = (row: OrganizationColumns): ActiveOrganization => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  plan: row.organization_plan,
});

/** @throws {CatalogueError} forbidden, if the organization is suspended */
export function organizationOf(row: OrganizationColumns): ActiveOrganization {
  if (row.organization_suspended)
    throw new CatalogueError(
      'forbidden',
      'The organization is suspended by the operator of this service: its credentials are refused until it is resumed.',
      { fix: 'Ask the operator of this service. Nothing was deleted.' },
    );
  return anyOrganizationOf(row);
}

/** What the member of a link does where the link may not. */
export const LINK_NEEDS_SIGN_IN = 'Sign in with your second factor, and decide on the page of approvals.';

export const wrongOrganization = (message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: 'header/x-organization-id', message }] });

/** The organization named by x-organization-id, or the only one there is. */
export function chooseOrganization(
  rows: readonly OrganizationColumns[],
  chosen: string | undefined,
): OrganizationColumns {
  const [row, another] = rows;
  if (row === undefined && chosen !== undefined) throw wrongOrganization('does not name one of your organizations');
  if (row === undefined)
    throw new CatalogueError('forbidden', 'You are not a member of any organization.', {
      fix: 'Ask an admin of an organization to invite you, and accept the invitation.',
    });
  if (another !== undefined && chosen === undefined)
    throw wrongOrganization('is required, because there are several organizations');
  return row;
}

export const unauthenticated = (message?: string, fix?: string): CatalogueError =>
  new CatalogueError('unauthenticated', message, fix === undefined ? {} : { fix });

/** One text for unknown, revoked and expired. */
export const invalidCredential = (kind: keyof typeof NEW_CREDENTIAL): CatalogueError =>
  unauthenticated(`The ${kind} is not valid: it is unknown, revoked or expired.`, NEW_CREDENTIAL[kind]);

const NEW_CREDENTIAL = {
  'API key': 'Check that the whole key was copied; if it was, have an admin create another one.',
  session: 'Sign in again: POST /api/sessions.',
  'mailbox token':
    'Check that the whole token was copied; if it was, make another one: POST /api/mailboxes/:id/tokens.',
  'operator key': 'Send the OPERATOR_KEY this instance was started with.',
} as const;

/** `last_used_at` is written when the one in the row is older than this. */
export const LAST_USED_INTERVAL_MS = 60_000;

/** Rows whose use is being written, so that concurrent requests do not write it again. */
const touching = new WeakMap<object, Set<string>>();

/** Writes the last use without delaying the request. If that fails, the next use is written. */
export function touch({ db, log }: Services, text: string, [id, ...values]: readonly [string, ...unknown[]]): void {
  const writing = touching.get(db) ?? new Set();
  touching.set(db, writing);
  if (writing.has(id)) return;
  writing.add(id);
  db.query(text, [id, ...values])
    .catch((error: Error) => log.debug({ error: error.message }, 'lastUsedAt was not written'))
    .finally(() => writing.delete(id));
}
