/** `docs/configuration.md`, made from the table of settings. */
import { SETTING_GROUPS, SETTINGS } from '../core/settings.ts';

const INTRODUCTION = `# Configuration

<!-- Generated from core/settings.ts by \`npm run docs\`. Change it there. -->

All settings are environment variables; an empty one counts as unset. Nothing needs to be set for \`npm start\`, which
brings what is missing. The single processes (\`npm run start:api\`, \`start:worker\`, \`start:mail\`) take everything from
here: they need DATABASE_URL, TEMPORAL_ADDRESS, SECRETS_KEYS and CREDENTIAL_PEPPER, the same for all of them, and
\`npm run migrate\` before the first start and after each upgrade.

A wrong value stops the start with the setting's name and what it takes.
`;

const GROUP_NOTES: Partial<Record<(typeof SETTING_GROUPS)[number], string>> = {
  Process: 'What `npm start` keeps lies in DATA_DIR; remove that folder to begin anew.',
  Secrets:
    'Make them once, keep them with your backups: without SECRETS_KEYS the sealed secrets in the database stay closed.',
};

/** One cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function configurationDocument(): string {
  const groups = SETTING_GROUPS.map((group) => {
    const rows = Object.entries(SETTINGS)
      .filter(([, setting]) => setting.group === group)
      .map(([name, setting]) => {
        const fallback = 'fallback' in setting && setting.fallback !== '' ? `\`${setting.fallback}\`` : '';
        const secret = 'secret' in setting && setting.secret ? ' **Secret.**' : '';
        return `| \`${name}\` | ${cell(setting.takes)} | ${cell(fallback)} | ${cell(setting.text)}${secret} |`;
      });
    const note = GROUP_NOTES[group];
    return [
      `## ${group}`,
      '',
      ...(note === undefined ? [] : [note, '']),
      '| setting | takes | default | meaning |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}\n${groups.join('\n')}`;
}
