/**
 * Programs that some tests call and a machine may lack. A test that needs one is skipped without it, and `npm test` lists
 * at its end what was skipped and the command that installs it; where CI is "true" a skipped test fails the run.
 *
 * `.ci/run --install` installs all of them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findChartProgram, findKubernetesSchemas, KUBERNETES_VERSIONS } from '#dev/build/chart-programs.ts';
import { pebbleProgram } from '#dev/build/pebble.ts';
import { pythonOf, usualPython } from '#dev/build/python-environment.ts';
import { versitygwProgram } from '#dev/build/versitygw.ts';
import { distributionPostgres } from '#dev/launcher/postgres-binaries.ts';

const ASK_MAX_MS = 30_000;

/** The program files of a name on PATH, in its order. */
function onPath(name: string, environment: NodeJS.ProcessEnv): string[] {
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, name)).filter((file) => existsSync(file));
}

function runs(program: string, args: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: ASK_MAX_MS, env: environment });
    return true;
  } catch {
    return false;
  }
}

interface Program {
  /** @returns the file to run; undefined: this machine does not have it */
  find(environment: NodeJS.ProcessEnv): string | undefined;
  readonly debian: string;
  readonly mac: string;
}

/** @param asks what it is called with to see whether it runs */
const program = (name: string, asks: readonly string[], debian: string, mac = debian): Program => ({
  find: (environment) => onPath(name, environment).find((file) => runs(file, asks, environment)),
  debian: `apt-get install ${debian}`,
  mac: `brew install ${mac}`,
});

/** Each Python on PATH has its own modules: Debian’s packages belong to the one in /usr/bin. */
const pythonWith = (modules: string, debian: string, mac: string): Program => ({
  find: (environment) =>
    onPath('python3', environment).find((file) => runs(file, ['-c', `import ${modules}`], environment)),
  debian: `apt-get install ${debian}`,
  mac: `python3 -m pip install ${mac}`,
});

/** Windows and viewers are needed for some tests only; then the headless shell does not do. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** The same engine without windows and viewers: half the CPU, steadier measurements, and it always paints. */
const HEADLESS_SHELL = 'chromium-headless-shell';
/** Applications of macOS are not on PATH. */
const MAC_BROWSER = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

const browser = (names: readonly string[]): Program => ({
  find: (environment) =>
    existsSync(MAC_BROWSER) ? MAC_BROWSER : names.flatMap((name) => onPath(name, environment))[0],
  debian: 'apt-get install chromium',
  mac: 'brew install --cask google-chrome',
});

/** Some containers let not even root mount anything. */
const mounting: Program = {
  find(environment) {
    const folder = mkdtempSync(path.join(tmpdir(), 'mount-'));
    try {
      if (!runs('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], environment)) return undefined;
      execFileSync('umount', [folder]);
      return 'mount';
    } finally {
      rmdirSync(folder);
    }
  },
  debian: 'run the tests as root, in a container with the capability SYS_ADMIN',
  mac: 'run the tests on Linux',
};

/** Debian keeps the server's programs outside of PATH, and this one in it. */
const distributionServer: Program = {
  find: (environment) =>
    onPath('pg_lsclusters', environment).length > 0 || environment['PG_BIN'] !== undefined
      ? distributionPostgres()?.binary('postgres')
      : undefined,
  debian: 'apt-get install postgresql',
  mac: 'run the tests on Linux, or set PG_BIN to the folder of a server’s programs',
};

const DOVECOT_IMAP = '/usr/lib/dovecot/imap';

/** Debian keeps the program of one session outside of PATH. */
const dovecotSession: Program = {
  find: (environment) =>
    onPath('dovecot', environment).length > 0 && existsSync(DOVECOT_IMAP) ? DOVECOT_IMAP : undefined,
  debian: 'apt-get install dovecot-imapd',
  mac: 'run the tests on Linux',
};

const localeSources: Program = {
  find: (environment) =>
    existsSync('/usr/share/i18n/locales/de_DE') ? onPath('localedef', environment)[0] : undefined,
  debian: 'apt-get install locales',
  mac: 'run the tests on Linux',
};

const PROGRAMS = {
  'the right to mount file systems': mounting,
  bash: program('bash', ['--version'], 'bash'),
  'PostgreSQL of the distribution': distributionServer,
  chromium: browser(BROWSERS),
  'chromium or its headless shell': browser([HEADLESS_SHELL, ...BROWSERS]),
  curl: program('curl', ['--version'], 'curl'),
  'Dovecot for IMAP': dovecotSession,
  git: program('git', ['--version'], 'git'),
  go: program('go', ['version'], 'golang-go', 'go'),
  'helm, kubeconform and schemas of Kubernetes': {
    find: () =>
      findChartProgram('kubeconform') !== undefined && KUBERNETES_VERSIONS.every(findKubernetesSchemas)
        ? findChartProgram('helm')
        : undefined,
    debian: 'npm run chart-programs',
    mac: 'npm run chart-programs',
  },
  java: program('java', ['-version'], 'default-jre-headless', 'openjdk'),
  localedef: localeSources,
  mbsync: program('mbsync', ['--version'], 'isync'),
  msmtp: program('msmtp', ['--version'], 'msmtp'),
  mvn: program('mvn', ['--version'], 'maven'),
  openssl: program('openssl', ['version'], 'openssl'),
  pebble: { find: pebbleProgram, debian: 'npm run pebble', mac: 'npm run pebble' },
  pgbouncer: program('pgbouncer', ['--version'], 'pgbouncer'),
  prlimit: program('prlimit', ['--version'], 'util-linux'),
  psql: program('psql', ['--version'], 'postgresql-client', 'libpq'),
  promtool: program('promtool', ['--version'], 'prometheus'),
  python3: program('python3', ['--version'], 'python3', 'python'),
  'python3 with cryptography': pythonWith('cryptography', 'python3-cryptography', 'cryptography'),
  'python3 with dkim': pythonWith('dkim', 'python3-dkim', 'dkimpy'),
  'python3 with fastapi and uvicorn': pythonWith(
    'fastapi, uvicorn',
    'python3-fastapi python3-uvicorn',
    'fastapi uvicorn',
  ),
  /** With which the Python package is tested. */
  'Python 3.10 to 3.13 with venv': {
    find(environment) {
      const python = pythonOf(usualPython() ?? '');
      return python !== undefined && runs(python, ['-c', 'import ensurepip, venv'], environment) ? python : undefined;
    },
    debian: 'apt-get install python3 python3-venv',
    mac: 'brew install python@3.13',
  },
  'systemd-analyze': program('systemd-analyze', ['--version'], 'systemd'),
  swaks: program('swaks', ['--version'], 'swaks'),
  versitygw: { find: versitygwProgram, debian: 'npm run versitygw', mac: 'npm run versitygw' },
} as const satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof PROGRAMS;
export const PYTHON = 'Python 3.10 to 3.13 with venv' satisfies ProgramName;
export const PROGRAM_NAMES = Object.keys(PROGRAMS) as ProgramName[];

const found = new Map<ProgramName, string | undefined>();

/** @returns the file of a program; undefined: this machine does not have it */
export function findProgram(name: ProgramName): string | undefined {
  if (!found.has(name)) found.set(name, PROGRAMS[name].find(process.env));
  return found.get(name);
}

/** @throws {Error} when this machine does not have it; the message says how to install it */
export function programFile(name: ProgramName): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(lacking([name]));
  return file;
}

const INSTALLER = /^(?:apt-get|brew|python3 -m pip) install (?!-)/;

/** @returns what is missing and the commands that install it */
const lacking = (names: readonly ProgramName[]): string => {
  const commands = names.map((name) => PROGRAMS[name][process.platform === 'darwin' ? 'mac' : 'debian']);
  const byInstaller = Map.groupBy(commands, (command) => INSTALLER.exec(command)?.[0] ?? '');
  const joined = [...byInstaller].map(([installer, group]) =>
    [...new Set(group.map((command) => command.replace(installer, '')))].join(' ').replace(/^/, installer),
  );
  return `needs ${names.join(', ')}: ${joined.join('; ')}`;
};

/** @returns why a test that needs these programs is skipped; undefined: all of them are here */
export function lacks(...names: readonly ProgramName[]): string | undefined {
  const missing = names.filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? undefined : lacking(missing);
}

/** The option of a test that needs these programs: `test('…', needs('swaks'), …)`. */
export const needs = (...names: readonly ProgramName[]): { readonly skip: string | false } => ({
  skip: lacks(...names) ?? false,
});
