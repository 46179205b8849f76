/**
 * The link of a notice as a credential. It is alive while its request waits and its member is one: the rows are asked
 * each time. Of a link that was given out, the answer says how it ended; of all others nothing.
 */

import type { ActiveOrganization, ApprovalPrincipal } from '#api/http/principal.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { ConsentStatus } from '#domain/sending/consent.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { ORGANIZATION_COLUMNS, type OrganizationColumns, organizationOf } from './credential-lookup.ts';

interface LinkRow extends OrganizationColumns {
  readonly id: string;
  readonly consent_id: string;
  readonly expires_at: Date;
  readonly status: ConsentStatus;
  readonly decided_by: Actor | null;
  readonly request_expires_at: Date;
  /** Why the message went to nobody, as its recipients say it. */
  readonly ended_as: string | null;
  readonly user_id: string;
  readonly user_name: string;
  readonly email: string;
}

const FIND = `
  select l.id, l.consent_id, l.expires_at, c.status, c.decided_by, c.expires_at as request_expires_at,
         (select r.reply from outbound_recipient r where r.message_id = c.message_id and r.status = 'denied' limit 1) as ended_as,
         u.id as user_id, u.name as user_name, u.email, ${ORGANIZATION_COLUMNS}
    from approval_links l
    join consent c on c.id = l.consent_id and c.organization_id = l.organization_id
    join members m on m.id = l.member_id and m.organization_id = l.organization_id
    join users u on u.id = m.user_id
    join organizations o on o.id = l.organization_id
   where l.token_hash = $1`;

/**
 * @param again whether the member who has decided may come once more, as to a POST whose answer was lost
 * @throws {CatalogueError} unauthenticated
 */
export async function authenticateApprovalLink(
  services: Services,
  token: string,
  again: boolean,
): Promise<{ principal: ApprovalPrincipal; organization: ActiveOrganization }> {
  if (!isCredential('approvalLink', token))
    throw new CatalogueError('unauthenticated', 'The link is not well-formed; was it copied in full?');
  const [row] = await services.db.query<LinkRow>(FIND, [hashCredential(token, services.pepper)]);
  if (row === undefined)
    throw new CatalogueError(
      'unauthenticated',
      'The approval link is not valid: it is unknown, or ended with a change of role, password or membership.',
      { fix: 'Sign in to see the request, or open the newest mail about it.' },
    );
  const nowMs = services.now();
  const decided = ownDecision(row);
  const alive = row.expires_at.getTime() > nowMs && (row.status === 'pending' || (again && decided !== null));
  if (!alive || (row.status === 'pending' && row.request_expires_at.getTime() <= nowMs)) throw endedLink(row, decided);
  return {
    principal: {
      kind: 'approval_link',
      id: row.id,
      consentId: row.consent_id,
      userId: row.user_id,
      name: row.user_name,
      email: row.email,
      expiresAt: row.expires_at,
      decided,
    },
    organization: organizationOf(row),
  };
}

/** What the member of the link has decided; null: nothing. */
function ownDecision({ status, decided_by: by, user_id, ended_as }: LinkRow): ApprovalPrincipal['decided'] {
  if (status === 'pending' || by?.type !== 'user' || by.id !== user_id) return null;
  return status === 'approved' || ended_as === DENIED ? status : null;
}

/** `outbound_recipient.reply` of mail that a person denied. */
const DENIED = 'consent_denied';
const ENDS: Readonly<Record<string, string>> = {
  consent_expired: 'The link has expired: nobody decided about the message in time.',
  cancelled: 'The sender took the message back: there is nothing to decide any more.',
  mailbox_not_active: 'The mailbox that wrote the message sends no more: there is nothing to decide any more.',
};

/** The answer to the member of a link who has decided. */
export const usedLink = (decided: 'approved' | 'denied'): CatalogueError =>
  endOf(`The link was used: the message was ${decided}.`);

function endedLink({ status, ended_as }: LinkRow, decided: ApprovalPrincipal['decided']): CatalogueError {
  if (decided !== null) return usedLink(decided);
  if (status === 'pending') return endOf('The link has expired.');
  return endOf(
    (status === 'denied' ? ENDS[ended_as ?? ''] : undefined) ?? `Somebody else has ${status} the message already.`,
  );
}

const endOf = (message: string): CatalogueError =>
  new CatalogueError('unauthenticated', message, { fix: 'Sign in to see the request and what was decided.' });
