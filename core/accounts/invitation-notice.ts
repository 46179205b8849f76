/** The mail by which a person is invited. */

import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import { INVITATION_LIFE_DAYS } from '#domain/access/credential-format.ts';
import { oneLine } from '#domain/mail/one-line.ts';
import { CREDENTIAL_PLACE } from '#domain/organizations/member-notices.ts';

/** Identity of the credential in its sealed form. */
export const noticeCredentialPlace = (noticeId: string): string => `member_notices:credential:${noticeId}`;

/** The link a person accepts with. The token is in its fragment, which no server's log sees. */
export const acceptUrl = (publicUrl: string, token: string): string => `${publicUrl}/accept-invitation#${token}`;

/**
 * Writes the notice in the transaction of the invitation; start it by `sendNotices` after the commit. Its text, which can
 * be read in the API, has a place instead of the credential.
 */
export async function writeInvitationNotice(
  services: Pick<Services, 'secrets' | 'now'>,
  sql: Sql,
  invitation: {
    readonly id: string;
    readonly organizationId: string;
    readonly organizationName: string;
    /** Null: not a member. */
    readonly inviter: { readonly name: string; readonly email: string } | null;
    readonly email: string;
    readonly token: string;
    readonly publicUrl: string;
  },
): Promise<NewMemberNotice> {
  const now = services.now();
  const id = newId('notice', now);
  const organization = oneLine(invitation.organizationName);
  const notice = {
    id,
    organizationId: invitation.organizationId,
    kind: 'invitation' as const,
    targetId: invitation.id,
    recipient: invitation.email,
    subject: `Invitation to ${organization}`,
    text: `${invited(invitation.inviter)} to join ${organization} at ${invitation.publicUrl}.

To accept, open this link:

  ${acceptUrl(invitation.publicUrl, CREDENTIAL_PLACE)}

It is valid for ${INVITATION_LIFE_DAYS} days and works once. Anybody who has it can accept, so do not forward this mail. If you expected no invitation, delete it: nothing happens then.
`,
  };
  const sealed = services.secrets.seal(invitation.token, noticeCredentialPlace(id));
  await insertMemberNotices(sql, [notice], new Date(now), sealed);
  return notice;
}

const invited = (inviter: { readonly name: string; readonly email: string } | null): string =>
  inviter === null ? 'You are invited' : `${oneLine(inviter.name)} (${inviter.email}) invites you`;
