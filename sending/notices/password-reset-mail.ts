/**
 * Writes the mail of a password reset at the time of sending. Only then it checks whether the address has an account.
 */

import { noticeCredentialPlace } from '#core/accounts/invitations.ts';
import { createPasswordReset, findResetAccount, passwordResetUrl } from '#core/accounts/passwords.ts';
import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import { dropNotice, sealedCredentialOf, writeNoticeText } from '#db/queries/notices/approval-notices.ts';
import type { MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { PASSWORD_RESET_LIFE_MINUTES } from '#domain/access/credential-format.ts';
import { CREDENTIAL_PLACE } from '#domain/organizations/member-notices.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { WrittenNotice } from './approval-mail.ts';

/** @returns undefined: no account has this address, or the reset has expired, and the notice is deleted */
export async function writePasswordResetMail(
  services: SendingServices,
  notice: MemberNoticeRow,
): Promise<WrittenNotice | undefined> {
  const { db, secrets, settings, now } = services;
  const account = await findResetAccount(db, notice.recipient);
  const isLate = notice.createdAt.getTime() + PASSWORD_RESET_LIFE_MINUTES * 60_000 <= now();
  if (account === undefined || isLate) {
    await dropNotice(db, notice.id);
    return undefined;
  }
  const { subject } = notice;
  const publicUrl = await publicAddress(services);
  if (await isHostedAddress(db, settings.MAIL_DOMAIN, account.organizationIds, notice.recipient)) {
    const text = hostedText(publicUrl);
    await writeNoticeText(db, notice.id, { subject, text, credentials: null });
    return { subject, text, holdsCredential: false };
  }
  const text = resetText(publicUrl);
  const place = noticeCredentialPlace(notice.id);
  const token = await db.transaction(async (sql) => {
    const sealed = await sealedCredentialOf(sql, notice.id);
    if (sealed !== undefined) return secrets.open(sealed, place);
    const made = await createPasswordReset(services, sql, account.userId);
    await writeNoticeText(sql, notice.id, { subject, text, credentials: secrets.seal(made.token, place) });
    return made.token;
  });
  return { subject, text: text.replaceAll(CREDENTIAL_PLACE, () => token), holdsCredential: true };
}

const resetText = (publicUrl: string): string => `Somebody, probably you, asked to reset your password at ${publicUrl}.

To choose a new one, open this link:

  ${passwordResetUrl(publicUrl, CREDENTIAL_PLACE)}

It is valid for ${PASSWORD_RESET_LIFE_MINUTES} minutes and works once. Anybody who has it can sign in as you, so do not forward this mail. If you did not ask for it, delete it: nothing happens then.
`;

const hostedText = (publicUrl: string): string => `Somebody asked to reset your password at ${publicUrl}.

Mail to this address is stored by that service itself, where agents may read it, so no link is sent to it. Ask another owner of your organization to reset your password (Settings, People), or the operator of the service.

If you did not ask for it, delete this mail: nothing happens then.
`;
