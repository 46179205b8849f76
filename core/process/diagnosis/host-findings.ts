/** The machine and its listeners: clock, disk, certificate, and what answers on the ports. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import net from 'node:net';
import tls from 'node:tls';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { certificateFiles } from '#core/platform/settings/settings.ts';
import { MESSAGES } from '#core/process/readiness.ts';
import { checkCertificate } from '#core/process/start-checks.ts';
import type { Sql } from '#db/database.ts';
import { type Finding, findingsOf } from './finding.ts';

const CLOCK_HARMLESS_MS = 2_000;
const CLOCK_HARMFUL_MS = 60_000;
/** Of a header `Date`, which counts seconds. */
const DATE_PRECISION_MS = 1_000;
const ANSWER_WITHIN_MS = 3_000;
const FETCH_WITHIN_MS = 5_000;
const MIB = 1024 * 1024;
const DISK_ERROR_BYTES = 256 * MIB;
const DISK_WARNING_BYTES = 2_048 * MIB;
const DISK_WARNING_PART = 0.05;
const DAY_MS = 86_400_000;
/** ACME clients renew that long before the end. */
const RENEWAL_DAYS = 30;

const clock = findingsOf('clock');

function clockFinding(aheadMs: number, than: string): Finding {
  const away = Math.abs(aheadMs);
  const seconds = (away / 1_000).toFixed(1);
  if (away < CLOCK_HARMLESS_MS) return clock.ok(`The clock agrees with that of ${than} (${seconds} s apart).`);
  const report = away < CLOCK_HARMFUL_MS ? clock.warning : clock.error;
  return report(
    `The clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${than}: links and signatures are refused too early or too late, and TLS may fail.`,
    'Let both machines set their clocks by NTP.',
  );
}

/** Compares the clock with that of PostgreSQL. */
export async function databaseClockFinding(db: Sql, now: () => number): Promise<Finding> {
  const before = now();
  const [row] = await db.query<{ ms: number }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
  const after = now();
  return clockFinding((before + after) / 2 - Number(row?.ms), 'PostgreSQL');
}

/** Compares the clock with the header `Date` of a web server, for what has no NTP. */
export async function webClockFinding(url: string, now: () => number): Promise<Finding> {
  try {
    const before = now();
    const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(FETCH_WITHIN_MS) });
    const after = now();
    const date = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(date)) return clock.note(`${url} answers without a date.`);
    const aheadMs = (before + after) / 2 - (date + DATE_PRECISION_MS / 2);
    return clockFinding(aheadMs, new URL(url).host);
  } catch (error) {
    return clock.note(`${url} gave no time: ${reasonOf(error)}.`);
  }
}

const size = (bytes: number): string =>
  bytes < 1_024 * MIB ? `${Math.floor(bytes / MIB)} MB` : `${(bytes / MIB / 1_024).toFixed(1)} GB`;

/** Free space where messages are spooled. */
export async function diskFinding({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>): Promise<Finding> {
  const { ok, note, warning, error } = findingsOf('disk');
  try {
    const { bavail, blocks, bsize } = await statfs(DATA_DIR);
    const [free, all] = [bavail * bsize, blocks * bsize];
    const what = `${DATA_DIR} has ${size(free)} of ${size(all)} free`;
    const todo = 'Free some space, or give it more.';
    if (free < DISK_ERROR_BYTES) return error(`${what}: soon no message can be taken.`, todo);
    if (free < DISK_WARNING_BYTES && free < all * DISK_WARNING_PART) return warning(`${what}.`, todo);
    return ok(`${what}.`);
  } catch (failure) {
    return note(`The space of DATA_DIR cannot be read: ${reasonOf(failure)}.`);
  }
}

/** The file of TLS_CERT: names, dates, key. */
export async function certificateFindings(settings: Settings, nowMs: number): Promise<Finding[]> {
  const { ok, note, warning, error } = findingsOf('certificate');
  const { certFile, keyFile } = certificateFiles(settings);
  const { state, error: failure } = await checkCertificate(settings, nowMs);
  if (state === 'unreadable')
    return [
      error(
        `${certFile} cannot be read: ${reasonOf(failure)}.`,
        'Put the certificate there, or set TLS_CERT and TLS_KEY; `npm start` and `agent-mailbox-admin migrate` make one for trials.',
      ),
    ];
  const certificate = new X509Certificate(await readFile(certFile));
  const leftDays = Math.floor((certificate.validToDate.getTime() - nowMs) / DAY_MS);
  const names = (certificate.subjectAltName ?? certificate.subject)
    .replaceAll('DNS:', '')
    .replaceAll('IP Address:', '');
  const what = `${certFile} is for ${names}, until ${certificate.validToDate.toISOString().slice(0, 10)} (${leftDays} days)`;
  const findings = [await keyFinding(certificate, keyFile)];
  if (state === 'ok' && leftDays < RENEWAL_DAYS)
    findings.push(
      note(
        `${what}. ACME clients renew ${RENEWAL_DAYS} days before the end.`,
        'Look whether the renewal runs, and copies the files to TLS_CERT and TLS_KEY.',
      ),
    );
  else if (state === 'ok') findings.push(ok(`${what}.`));
  else {
    const [meaning = '', ...todo] = (MESSAGES.certificate[state] ?? '').split(/(?<=\.) /);
    findings.push((state === 'expired' ? error : warning)(`${what}. ${meaning}`, todo.join(' ')));
  }
  return findings;

  async function keyFinding(chain: X509Certificate, file: string): Promise<Finding> {
    try {
      if (chain.checkPrivateKey(createPrivateKey(await readFile(file)))) return ok(`${file} is its key.`);
      return error(`${file} is the key of another certificate.`, 'Set TLS_KEY to the key of TLS_CERT.');
    } catch (unreadable) {
      return error(`${file} cannot be read: ${reasonOf(unreadable)}.`, 'Let the user of the service read it.');
    }
  }
}

interface Listener {
  readonly name: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly tls: boolean;
  /** Beginning of what it says first. */
  readonly greeting: RegExp;
}

/** With the port that other machines use. */
export function mailListeners(settings: Settings): (Listener & { readonly publicPort: number })[] {
  const [smtp, imap, pop3] = [/^220[ -]/, /^\* OK/, /^\+OK/];
  return [
    { name: 'SMTP', port: settings.SMTP_PORT, publicPort: 25, tls: false, greeting: smtp },
    { name: 'submission (TLS)', port: settings.SUBMISSIONS_PORT, publicPort: 465, tls: true, greeting: smtp },
    { name: 'submission', port: settings.SUBMISSION_PORT, publicPort: 587, tls: false, greeting: smtp },
    { name: 'IMAP (TLS)', port: settings.IMAPS_PORT, publicPort: 993, tls: true, greeting: imap },
    { name: 'IMAP', port: settings.IMAP_PORT, publicPort: 143, tls: false, greeting: imap },
    { name: 'POP3 (TLS)', port: settings.POP3S_PORT, publicPort: 995, tls: true, greeting: pop3 },
    { name: 'POP3', port: settings.POP3_PORT, publicPort: 110, tls: false, greeting: pop3 },
  ];
}

interface Greeted {
  readonly line: string;
  /** SHA-256 of the certificate; of a listener with TLS. */
  readonly fingerprint?: string;
}

/**
 * Connects and reads the first line.
 *
 * @param greets whether it speaks first; otherwise the line is empty
 * @throws if nobody listens or says anything in time
 */
export async function greetingOf(
  host: string,
  { port, tls: secure, greets = true }: Pick<Listener, 'port' | 'tls'> & { readonly greets?: boolean },
): Promise<Greeted> {
  // Whose certificate it is, is compared below.
  const socket = secure ? tls.connect({ host, port, rejectUnauthorized: false }) : net.connect({ host, port });
  try {
    return await new Promise<Greeted>((resolve, reject) => {
      let line = '';
      socket.setTimeout(ANSWER_WITHIN_MS, () => reject(new Error(`no greeting within ${ANSWER_WITHIN_MS / 1_000} s`)));
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('it closed the connection without a greeting')));
      if (!greets) socket.once(secure ? 'secureConnect' : 'connect', () => resolve({ line: '' }));
      socket.setEncoding('utf8').on('data', (text: string) => {
        line += text;
        if (!line.includes('\n') && line.length < 1_000) return;
        const fingerprint =
          socket instanceof tls.TLSSocket ? socket.getPeerX509Certificate()?.fingerprint256 : undefined;
        resolve({ line: line.split(/\r?\n/, 1)[0] ?? '', ...(fingerprint === undefined ? {} : { fingerprint }) });
      });
    });
  } finally {
    socket.destroy();
  }
}

/** A bound address as one to connect to. */
const connectable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

/**
 * Whether each listener greets as its protocol, and with the certificate of TLS_CERT.
 *
 * @param host where they are, if not on this machine
 */
export async function listenerFindings(settings: Settings, host = connectable(settings.MAIL_HOST)): Promise<Finding[]> {
  const { ok, note, warning, error } = findingsOf('listeners');
  if (settings.MAIL_PROXY_FROM.length > 0)
    return [note('The mail listeners are behind a proxy (MAIL_PROXY_FROM); their greeting is not asked for here.')];
  const listeners = mailListeners(settings);
  const results = await Promise.allSettled(listeners.map((listener) => greetingOf(host, listener)));
  if (results.every(({ status }) => status === 'rejected'))
    return [
      warning(
        `No mail listener answers at ${host}: the service does not run there.`,
        'Start it; if it runs elsewhere, name its host with --host (in compose: --host mail).',
      ),
    ];
  const file = await readFile(certificateFiles(settings).certFile)
    .then((pem) => new X509Certificate(pem).fingerprint256)
    .catch(() => undefined);
  const findings = listeners.map(({ name, port, greeting }, index) => {
    const result = results[index];
    const where = `${name} on ${host}:${port}`;
    if (result?.status !== 'fulfilled')
      return error(`${where} does not answer: ${reasonOf(result?.reason)}.`, 'Look at the log of the mail process.');
    if (!greeting.test(result.value.line))
      return error(`${where} is another program: it says "${result.value.line.slice(0, 80)}".`, 'Stop that program.');
    return ok(`${where} answers.`);
  });
  const served = results.find((each) => each.status === 'fulfilled' && each.value.fingerprint !== undefined);
  if (served?.status === 'fulfilled' && file !== undefined && served.value.fingerprint !== file)
    findings.push(
      warning(
        'The mail listeners use another certificate than that of TLS_CERT: a renewal was not loaded.',
        'They load a changed file within seconds; look at the log of the mail process, and that TLS_CERT is the same there.',
      ),
    );
  return findings;
}

/** Whether the API answers at API_PUBLIC_URL, through its proxy and with a valid certificate. */
export async function publicApiFinding({ API_PUBLIC_URL }: Settings): Promise<Finding[]> {
  const { ok, error } = findingsOf('listeners');
  if (API_PUBLIC_URL === undefined) return [];
  const url = `${API_PUBLIC_URL.replace(/\/+$/, '')}/healthz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_WITHIN_MS), redirect: 'manual' });
    if (response.status === 200) return [ok(`The API answers at ${API_PUBLIC_URL}.`)];
    return [error(`${url} answers ${response.status}.`, 'Look at the proxy in front of the API.')];
  } catch (failure) {
    return [
      error(
        `The API does not answer at ${API_PUBLIC_URL}: ${reasonOf(failure)}.`,
        'Start the service; look at DNS, at the proxy in front of it, and at its certificate.',
      ),
    ];
  }
}
