/**
 * What is wrong with an installation, and what to do: `agent-mailbox-admin doctor`, `/readyz?verbose` on METRICS_PORT, and
 * warnings at the start of a process.
 *
 *   at start   settings, clock, disk: what costs one statement at most
 *   verbose    everything that this process can see, shared by requests for half a minute
 *   doctor     the same as an operator sees it, with listeners and the address of the API
 *
 * A check that cannot be made is a note, never a failure of the diagnosis.
 */
import { publishedDkimKeys } from '#core/mailboxes/dkim-keys.ts';
import { instanceDkimRecord } from '#core/mailboxes/domain-records.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import type { ProcessName } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Database } from '#db/database.ts';
import { acmeFindings } from './acme-findings.ts';
import { dkimFindings } from './dkim-findings.ts';
import { dnsFindings } from './dns-findings.ts';
import { type DiagnosisCheck, type Finding, findingsOf, inOrder, needsAttention } from './finding.ts';
import {
  certificateFindings,
  databaseClockFinding,
  diskFinding,
  listenerFindings,
  publicApiFinding,
  webClockFinding,
} from './host-findings.ts';
import { settingsFindings } from './settings-findings.ts';
import { signOnFindings } from './sign-on-findings.ts';
import {
  backlogFindings,
  connectionFindings,
  databaseFindings,
  objectFindings,
  secretsFindings,
  temporalFindings,
} from './store-findings.ts';

/** A limit for each check, above those of its parts. */
const CHECK_WITHIN_MS = 20_000;
/** Requests for `/readyz?verbose` share a result for so long. */
const FRESH_MS = 30_000;

interface DiagnosisOf {
  readonly settings: Settings;
  /** Undefined: not reachable. */
  readonly db: Database | undefined;
  /** Undefined: SECRETS_KEYS is not set. */
  readonly secrets: SealedSecrets | undefined;
  readonly now: () => number;
}

export interface DiagnosisOptions {
  /** Where the mail listeners are; undefined: where MAIL_HOST says. */
  readonly host?: string | undefined;
  /** Web server whose clock is compared. */
  readonly clock?: string | undefined;
  /** Called before each check. */
  readonly onCheck?: (check: DiagnosisCheck) => void;
}

type Check = readonly [check: DiagnosisCheck, run: () => Promise<Finding[]> | Finding[]];

/** Runs checks at the same time, each within its limit. @returns in the order of DIAGNOSIS_CHECKS */
async function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  const found = await Promise.all(
    checks.map(async ([check, run]) => {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error('no answer in time')), CHECK_WITHIN_MS);
      try {
        return await Promise.race([Promise.resolve().then(run), late.promise]);
      } catch (error) {
        return [findingsOf(check).note(`This could not be checked: ${reasonOf(error)}.`)];
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  return inOrder(found.flat());
}

/** The cheap part. */
const startChecks = ({ settings, db, now }: DiagnosisOf): Check[] => [
  ['settings', () => settingsFindings(settings)],
  ['disk', async () => [await diskFinding(settings)]],
  ...(db === undefined ? [] : [['clock', async () => [await databaseClockFinding(db, now)]] as const]),
];

function commonChecks(of: DiagnosisOf): Check[] {
  const { settings, db, secrets } = of;
  const ofDatabase: Check[] =
    db === undefined
      ? []
      : [
          ['postgresql', () => databaseFindings(db, settings)],
          ['connections', () => connectionFindings(db, settings)],
          ['objects', () => objectFindings(db, settings)],
          ['backlog', () => backlogFindings(db)],
          ['certificate', () => acmeFindings(db, settings, of.now())],
          ['dkim', () => dkimFindings({ settings, db, now: of.now })],
          ...(secrets === undefined ? [] : [['secrets', () => secretsFindings(db, secrets)] as const]),
        ];
  return [
    ...startChecks(of),
    ...ofDatabase,
    ['temporal', () => temporalFindings(settings, db)],
    ['single sign-on', () => signOnFindings(settings)],
    [
      'dns',
      async () => {
        const [dkim, others] =
          db === undefined
            ? [undefined, []]
            : await Promise.all([
                instanceDkimRecord(db, settings).catch(() => undefined),
                publishedDkimKeys(db, null).catch(() => []),
              ]);
        return dnsFindings(settings, dkim, others);
      },
    ],
  ];
}

/** Everything an operator's command can see. Never throws. */
export function diagnose(of: DiagnosisOf, { host, clock, onCheck }: DiagnosisOptions = {}): Promise<Finding[]> {
  const { settings, now } = of;
  const checks: Check[] = [
    ...commonChecks(of),
    ['certificate', () => certificateFindings(settings, now())],
    ['listeners', async () => [...(await listenerFindings(settings, host)), ...(await publicApiFinding(settings))]],
    ...(clock === undefined ? [] : [['clock', async () => [await webClockFinding(clock, now)]] as const]),
  ];
  for (const [check] of checks) onCheck?.(check);
  return runChecks(checks);
}

/** Findings of a process, for `/readyz?verbose`. Asked again and again, it answers from one run. Never throws. */
export function openDiagnosis(services: Services, process: ProcessName): () => Promise<Finding[]> {
  const hasListeners = process === 'mail' || process === 'all';
  const { settings, now } = services;
  let last: { readonly findings: Promise<Finding[]>; readonly atMs: number } | undefined;
  return () => {
    const atMs = performance.now();
    if (last === undefined || atMs - last.atMs > FRESH_MS) {
      const own: Check[] = hasListeners
        ? [
            ['certificate', () => certificateFindings(settings, now())],
            ['listeners', () => listenerFindings(settings)],
          ]
        : [];
      last = { findings: runChecks([...commonChecks(services), ...own]), atMs };
    }
    return last.findings;
  };
}

/** Before the first traffic: one line for each finding that somebody must look at. Never throws. */
export async function logStartFindings(services: Services, log: Logger): Promise<void> {
  for (const { check, what, todo } of (await runChecks(startChecks(services))).filter(needsAttention))
    log.warn({ check, todo }, what);
}
