/** `doctor`: what is wrong with an installation, and what to do. */
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { text, url } from '#core/platform/settings/setting-forms.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { diagnose } from '#core/process/diagnosis/diagnose.ts';
import { type Finding, findingsOf, inOrder, needsAttention } from '#core/process/diagnosis/finding.ts';
import type { Database } from '#db/database.ts';
import { type CommandContext, command } from '#operations/command.ts';
import { outsideFindings } from '#operations/outside.ts';

const POOL_MAX = 2;

const SIGNS: Readonly<Record<Finding['level'], string>> = { ok: '✔', note: '·', warning: '!', error: '✖' };

/** Findings as lines, by check. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = [...Map.groupBy(findings, ({ check }) => check)].flatMap(([check, own]) => [
    check,
    ...own.flatMap(({ level, what, todo }) => [
      `  ${SIGNS[level]} ${what}`,
      ...(todo === '' ? [] : [`      → ${todo}`]),
    ]),
  ]);
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
  const counted = (['error', 'warning', 'note'] as const).map(
    (level) => `${count(level)} ${level}${count(level) === 1 ? '' : 's'}`,
  );
  const total = `${counted.join(', ')}; ${count('ok')} right.`;
  return [...lines, '', total].join('\n');
}

interface DoctorOptions {
  readonly host?: string | undefined;
  readonly clock?: string | undefined;
  readonly from?: string | undefined;
}

/** Everything that the command checks, also where settings are wrong or a server is away. */
export async function findAll(
  context: Pick<CommandContext, 'settings' | 'database' | 'progress'>,
  { host, clock, from }: DoctorOptions,
): Promise<Finding[]> {
  const inSettings = findingsOf('settings');
  let settings: ReturnType<typeof context.settings>;
  try {
    settings = context.settings();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => inSettings.error(`${problem}.`));
  }
  let db: Database | undefined;
  const unusable: Finding[] = [];
  if (settings.DATABASE_URL === undefined)
    unusable.push(
      findingsOf('postgresql').error(
        'DATABASE_URL is not set, and no `npm start` runs in DATA_DIR.',
        'Set it, or start the service.',
      ),
    );
  else
    try {
      db = await context.database(POOL_MAX);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      unusable.push(...error.problems.map((problem) => findingsOf('postgresql').error(`${problem}.`)));
    }
  for (const name of ['SECRETS_KEYS', 'CREDENTIAL_PEPPER'] as const)
    if (settings[name] === undefined)
      unusable.push(
        findingsOf('secrets').error(
          `${name} is not set.`,
          'Run `agent-mailbox-admin setup`, or set it as for the service.',
        ),
      );
  const secrets = settings.SECRETS_KEYS === undefined ? undefined : sealedSecrets(settings.SECRETS_KEYS);
  const [found, outside] = await context.progress.step('Checks', () =>
    Promise.all([
      diagnose({ settings, db, secrets, now: Date.now }, { host, clock }),
      from === undefined ? [] : outsideFindings(from, settings),
    ]),
  );
  return inOrder([...unusable, ...found, ...outside]);
}

export const doctorCommand = command({
  name: 'doctor',
  summary: 'find what is wrong with an installation, and what to do',
  description:
    'Checks settings, PostgreSQL, connections, secrets, Temporal, what waits, the clock, the disk, the object storage, the certificate and its renewal, the listeners, and DNS: MX, addresses and their names (PTR), SPF, DKIM, DMARC, MTA-STS, and the records by which mail clients find their settings. Changes nothing. Findings: a warning (!) or an error (✖). Everything else is right (✔) or only to be known (·).',
  arguments: {},
  options: {
    host: { text: 'host of the mail listeners, if the command runs elsewhere', value: 'name', form: text },
    from: {
      text: 'address of an `agent-mailbox-admin answer-probes` on a machine outside, which tries the ports from there',
      value: 'url',
      form: url('http:', 'https:'),
    },
    clock: {
      text: 'web server whose clock is compared with that of this machine',
      value: 'url',
      form: url('http:', 'https:'),
    },
  },
  examples: ['doctor', 'doctor --from http://203.0.113.80:8790 --json'],
  async run(context) {
    const findings = await findAll(context, context.options);
    context.output({ findings }, findingsText(findings));
    return findings.some(needsAttention) ? 'findings' : 'done';
  },
});
