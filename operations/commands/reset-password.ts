/** `reset-password`: a link for a person who gets none by mail and has no other owner to ask. */
import { createPasswordReset, findResetAccount, passwordResetUrl } from '#core/accounts/passwords.ts';
import { resetSecondFactor } from '#core/accounts/second-factor/second-factor.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { PASSWORD_RESET_LIFE_MINUTES } from '#domain/access/credential-format.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { CommandError, command } from '#operations/command.ts';

const POOL_MAX = 1;

export const resetPasswordCommand = command({
  name: 'reset-password',
  summary: 'print a link by which a person chooses a new password',
  description: `Prints a link by which a person chooses a new password, to be handed over by you: for people who get no link by mail and have no other owner to ask. It is valid for ${PASSWORD_RESET_LIFE_MINUTES} minutes and works once; each run makes another one. The audit log of the person's organizations records it.`,
  arguments: { email: { text: 'address that the person signs in with' } },
  options: {
    secondFactor: {
      text: 'also remove the second factor, for a person who has lost the device and the recovery codes; all sessions end',
    },
  },
  examples: ['reset-password owner@example.org', 'reset-password --second-factor owner@example.org'],
  async run(context) {
    const email = context.args.email.toLowerCase();
    const { secondFactor } = context.options;
    const settings = context.settings('DATABASE_URL', 'CREDENTIAL_PEPPER');
    const { CREDENTIAL_PEPPER } = settings;
    const db = await context.database(POOL_MAX);
    await requireAgreedSettings(db, { CREDENTIAL_PEPPER });
    const account = await findResetAccount(db, email);
    if (account === undefined) throw new CommandError(`no account has the address ${email}`);
    const url = await publicAddress({ db, settings });
    const { token } = await db.transaction(async (sql) => {
      const caller = { actor: { ...SYSTEM_ACTOR, name: 'operator' }, ipAddress: null, requestId: null };
      await recordAudits(
        sql,
        account.organizationIds.map((organizationId) => ({
          caller,
          entry: {
            organizationId,
            action: 'member.password_reset_created',
            targetId: account.userId,
            details: { userId: account.userId },
          },
        })),
      );
      // The person is notified by the sweep of the running service.
      if (secondFactor) await resetSecondFactor({ now: Date.now }, sql, { id: account.userId, email }, caller);
      return createPasswordReset({ pepper: CREDENTIAL_PEPPER, now: Date.now }, sql, account.userId);
    });
    const link = passwordResetUrl(url, token);
    context.output(
      { email, url: link, validMinutes: PASSWORD_RESET_LIFE_MINUTES, secondFactorRemoved: secondFactor },
      `${link}\n\n${secondFactor ? 'The second factor was removed. ' : ''}Give it to ${email} and to nobody else. It is valid for ${PASSWORD_RESET_LIFE_MINUTES} minutes and works once.`,
    );
    return 'done';
  },
});
