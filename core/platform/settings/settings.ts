/** Reads the settings of `setting-table.ts` from environment variables. An empty variable counts as unset. */

import path from 'node:path';
import { RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';
import type { Setting } from './setting-forms.ts';
import { SETTINGS } from './setting-table.ts';

/** An error whose message says what is wrong with which setting. */
export class SettingsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`wrong settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

export { SETTINGS };

export type SettingName = keyof typeof SETTINGS;
type Parsed<Name extends SettingName> = Exclude<ReturnType<(typeof SETTINGS)[Name]['parse']>, undefined>;
type HasFallback<Name extends SettingName> = (typeof SETTINGS)[Name] extends { fallback: string } ? true : false;

/** Parsed settings. Those without a default may be undefined. */
export type Settings = {
  readonly [Name in SettingName]: HasFallback<Name> extends true ? Parsed<Name> : Parsed<Name> | undefined;
};

/** Settings for development only, with the risk they would have in production. */
const DEVELOPMENT_ONLY = [
  'WEBHOOK_ALLOW_DESTINATIONS',
  'WEBHOOK_EXTRA_CA',
  'WEBHOOK_RETRY_DELAYS_MS',
  'OUTBOUND_RETRY_DELAYS_MS',
  'MX_ALLOW_DESTINATIONS',
] as const;

/**
 * Reads all settings.
 *
 * @throws {SettingsError} with every wrong setting and the values it accepts
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
    const given = environment[name]?.trim();
    const raw = given === undefined || given === '' ? definition.fallback : given;
    if (raw === undefined) continue;
    const value = definition.parse(raw);
    if (value === undefined) {
      const shown = definition.secret ? 'has a value' : `is "${raw}"`;
      problems.push(`${name} ${shown}, but takes ${definition.takes.replaceAll('`', '')}`);
    }
    values[name] = value;
  }
  // Each value comes from the parser of its own setting, as the mapped type says.
  const settings = values as Settings;
  if (settings.MODE === 'production')
    for (const name of DEVELOPMENT_ONLY)
      if (settings[name]?.length)
        problems.push(`${name} is for development and tests only: unset it, or set MODE=development`);
  if ((settings.TLS_CERT === undefined) !== (settings.TLS_KEY === undefined))
    problems.push('TLS_CERT and TLS_KEY must be set together: set both or neither');
  if (settings.OUTBOUND_TRANSPORT === 'relay' && settings.OUTBOUND_RELAY_URL === undefined)
    problems.push('OUTBOUND_TRANSPORT is "relay", which needs OUTBOUND_RELAY_URL');
  if (settings.API_TLS_PORT > 0 && settings.ACME_DIRECTORY === undefined)
    problems.push(
      'API_TLS_PORT needs the certificates of ACME_DIRECTORY: set both, or put a proxy with TLS in front of the API',
    );
  problems.push(...hostnameProblems(settings), ...portClashes(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** Receivers look up the name of the sending host in DNS, and refuse one that does not exist. */
function hostnameProblems({ MODE, OUTBOUND_TRANSPORT, MAIL_HOSTNAME }: Settings): string[] {
  const known = /\.[^.]+$/.test(MAIL_HOSTNAME) && !/\.(?:localhost|local|invalid)$/i.test(MAIL_HOSTNAME);
  if (MODE !== 'production' || OUTBOUND_TRANSPORT !== 'mx' || known) return [];
  return [
    `OUTBOUND_TRANSPORT is "mx", which says MAIL_HOSTNAME to other mail hosts, but that is "${MAIL_HOSTNAME}": set it to the name this host has in reverse DNS`,
  ];
}

/** Port of the UI of the development server, relative to TEMPORAL_PORT. */
const TEMPORAL_UI_PORT_OFFSET = 1_000;

/** Two listeners of one process on one port: the second would fail with no more than EADDRINUSE. */
function portClashes(settings: Settings): string[] {
  const { DATABASE_URL, POSTGRES_PORT, TEMPORAL_ADDRESS, TEMPORAL_PORT } = settings;
  const listeners: readonly (readonly [string, number | undefined])[] = [
    ['METRICS_PORT', settings.METRICS_PORT],
    ['TEMPORAL_METRICS_PORT', settings.TEMPORAL_METRICS_PORT],
    ['API_PORT', settings.API_PORT],
    ['API_TLS_PORT', settings.API_TLS_PORT],
    ['ACME_HTTP_PORT', settings.ACME_DIRECTORY === undefined ? undefined : settings.ACME_HTTP_PORT],
    ['SMTP_PORT', settings.SMTP_PORT],
    ['SUBMISSIONS_PORT', settings.SUBMISSIONS_PORT],
    ['SUBMISSION_PORT', settings.SUBMISSION_PORT],
    ['IMAPS_PORT', settings.IMAPS_PORT],
    ['IMAP_PORT', settings.IMAP_PORT],
    ['POP3S_PORT', settings.POP3S_PORT],
    ['POP3_PORT', settings.POP3_PORT],
    ['POSTGRES_PORT', DATABASE_URL === undefined ? POSTGRES_PORT : undefined],
    ['TEMPORAL_PORT', TEMPORAL_ADDRESS === undefined ? TEMPORAL_PORT : undefined],
    [
      `TEMPORAL_PORT + ${TEMPORAL_UI_PORT_OFFSET} (its UI)`,
      TEMPORAL_ADDRESS === undefined && TEMPORAL_PORT > 0 ? TEMPORAL_PORT + TEMPORAL_UI_PORT_OFFSET : undefined,
    ],
  ];
  // 0 takes any free port, and switches metrics off.
  const used = listeners.filter(([, number]) => number !== undefined && number > 0);
  return [...Map.groupBy(used, ([, number]) => number)].flatMap(([number, same]) =>
    same.length < 2
      ? []
      : [`${same.map(([name]) => name).join(' and ')} are all ${number}, but each needs its own port`],
  );
}

/** What says where the certificate of the mail listeners is. */
export type CertificateSettings = Pick<Settings, 'TLS_CERT' | 'TLS_KEY' | 'DATA_DIR' | 'ACME_DIRECTORY'>;

/**
 * Where the certificate of the mail listeners is: with ACME a copy of the newest one, else TLS_CERT and TLS_KEY, else the
 * development certificate in DATA_DIR.
 */
export function certificateFiles(settings: CertificateSettings): {
  readonly certFile: string;
  readonly keyFile: string;
} {
  if (settings.ACME_DIRECTORY !== undefined)
    return {
      certFile: path.join(settings.DATA_DIR, 'tls', 'acme.pem'),
      keyFile: path.join(settings.DATA_DIR, 'tls', 'acme.key'),
    };
  return {
    certFile: settings.TLS_CERT ?? path.join(settings.DATA_DIR, 'tls', 'host.pem'),
    keyFile: settings.TLS_KEY ?? path.join(settings.DATA_DIR, 'tls', 'host.key'),
  };
}

/** Waits of the retry ladder in milliseconds: those of the interface, unless a test shortens them. */
export const retryDelaysMs = ({ WEBHOOK_RETRY_DELAYS_MS }: Settings): readonly number[] =>
  WEBHOOK_RETRY_DELAYS_MS.length > 0 ? WEBHOOK_RETRY_DELAYS_MS : RETRY_DELAYS_MS;
