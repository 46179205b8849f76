/**
 * `npm run reset-password -- <email>`: prints a link by which a person chooses a new password, to be handed over by the
 * operator. For people who get no link by mail and have no other owner to ask.
 *
 * Takes DATABASE_URL, CREDENTIAL_PEPPER and API_PUBLIC_URL as for the service. If unset, those of a running `npm start`
 * in DATA_DIR are used.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createPasswordReset, findResetAccount, passwordResetUrl } from '#core/accounts/password-resets.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import { publicAddress } from '#core/platform/addresses/public-address.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import { openDatabase } from '#db/database.ts';
import { PASSWORD_RESET_LIFE_MINUTES } from '#domain/access/credential-format.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';

const POOL_MAX = 1;

/** Values of `npm start` in DATA_DIR, as environment variables. */
function ofStartedService(dataDir: string): Record<string, string> {
  const read = (name: string): Record<string, unknown> => {
    const file = path.join(dataDir, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
  };
  const [{ databaseUrl }, { credentialPepper }] = [read('service.json'), read('secrets.json')];
  return {
    ...(typeof databaseUrl === 'string' ? { DATABASE_URL: databaseUrl } : {}),
    ...(typeof credentialPepper === 'string' ? { CREDENTIAL_PEPPER: credentialPepper } : {}),
  };
}

async function run(email: string | undefined): Promise<void> {
  if (email === undefined) throw new SettingsError(['usage: npm run reset-password -- <email>']);
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim()));
  const settings = readSettings({ ...ofStartedService(readSettings(process.env).DATA_DIR), ...given });
  const { DATABASE_URL, CREDENTIAL_PEPPER } = settings;
  if (DATABASE_URL === undefined || CREDENTIAL_PEPPER === undefined)
    throw new SettingsError([
      'DATABASE_URL and CREDENTIAL_PEPPER are needed: set them as for the service, or run `npm start` with the same DATA_DIR',
    ]);
  await requirePostgres(DATABASE_URL);
  const db = await openDatabase({ url: DATABASE_URL, poolMax: POOL_MAX });
  try {
    await requireAgreedSettings(db, { CREDENTIAL_PEPPER });
    const account = await findResetAccount(db, email);
    if (account === undefined) throw new Error(`no account has the address ${email}`);
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
      return createPasswordReset({ pepper: CREDENTIAL_PEPPER, now: Date.now }, sql, account.userId);
    });
    process.stdout.write(
      `${passwordResetUrl(url, token)}\n\nGive it to ${email} and to nobody else. It is valid for ${PASSWORD_RESET_LIFE_MINUTES} minutes and works once.\n`,
    );
  } finally {
    await db.close();
  }
}

try {
  await run(process.argv[2]);
} catch (error) {
  process.stderr.write(`\nreset-password: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}
