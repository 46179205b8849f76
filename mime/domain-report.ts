/**
 * Reads reports that other hosts send about mail of a domain: DMARC aggregate reports (RFC 7489 §7.2 and appendix C; RFC
 * 9990) and SMTP TLS reports (RFC 8460 §4). Both come as files, mostly packed, from strangers: unpacked size, depth and
 * number of rows are limited, and what a report contains is a claim of its sender.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { Parser } from 'htmlparser2';
import ipaddr from 'ipaddr.js';
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl';
import {
  REPORT_ROWS_MAX,
  REPORT_TEXT_MAX_CHARACTERS,
  REPORT_UNPACKED_MAX_BYTES,
  REPORT_XML_DEPTH_MAX,
} from '#domain/mail/domain-reports.ts';
import { oneLine } from '#domain/mail/text-forms.ts';

interface ReportFacts {
  /** As the report names itself; its sender is known from the mail only. */
  readonly reportId: string;
  /** Domain that it is about, in lower case. */
  readonly domain: string;
  readonly from: Date;
  readonly until: Date;
}

/** Mail that came from one address, as the reporting host saw it. */
export interface DmarcSource {
  readonly address: string;
  readonly messages: number;
  /** Messages that passed DMARC: by DKIM or SPF of the domain in From. */
  readonly passed: number;
  readonly quarantined: number;
  readonly rejected: number;
}

export interface TlsFailure {
  /** Of RFC 8460 §4.3, such as `certificate-expired`. */
  readonly type: string;
  /** Host that was connected to; empty: none is named. */
  readonly host: string;
  readonly sessions: number;
}

export type DomainReport =
  | (ReportFacts & { readonly kind: 'dmarc'; readonly sources: readonly DmarcSource[] })
  | (ReportFacts & {
      readonly kind: 'tls';
      readonly sessions: number;
      readonly failed: number;
      readonly failures: readonly TlsFailure[];
    });

/** The message contains no report that can be read; the text says why, in a few words. */
export class NoDomainReport extends Error {}

/**
 * @param bytes a message; the first file of it that can be a report is read
 * @throws {NoDomainReport}
 */
export async function readDomainReport(bytes: Uint8Array): Promise<DomainReport> {
  for (const { part } of leaves(indexMessage(bytes))) {
    if (!mayBeReport(part)) continue;
    const packed = Buffer.from(decodeTransfer(bytes.subarray(part.body, part.end), part.encoding));
    const text = (await unpack(packed)).toString('utf8').replace(/^\uFEFF/, '');
    return text.trimStart().startsWith('{') ? tlsReport(text) : dmarcReport(text);
  }
  throw new NoDomainReport('it has no attached report');
}

const FORMS =
  /^(?:application\/(?:gzip|x-gzip|zip|x-zip|x-zip-compressed|xml|tlsrpt\+gzip|tlsrpt\+json|json|octet-stream)|text\/xml)$/;
const NAMES = /\.(?:xml|json|zip|gz)$/i;

const mayBeReport = (part: PartNode): boolean =>
  FORMS.test(`${part.type}/${part.subtype}`) || NAMES.test(part.filename ?? '');

const unzip = promisify<Buffer, Options, ZipFile>(fromBuffer);
const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

/** By the first bytes: names and types of such files are often wrong. @throws {NoDomainReport} */
async function unpack(packed: Buffer): Promise<Buffer> {
  try {
    if (packed[0] === 0x1f && packed[1] === 0x8b)
      return await inflate(packed, { maxOutputLength: REPORT_UNPACKED_MAX_BYTES });
    if (packed[0] === 0x50 && packed[1] === 0x4b) return await firstOfZip(packed);
  } catch (error) {
    throw error instanceof NoDomainReport ? error : new NoDomainReport('its file cannot be unpacked, or is too large');
  }
  if (packed.length > REPORT_UNPACKED_MAX_BYTES) throw new NoDomainReport('its file is too large');
  return packed;
}

async function firstOfZip(packed: Buffer): Promise<Buffer> {
  const zip = await unzip(packed, { lazyEntries: true });
  const entry = await new Promise<Entry>((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', () => reject(new NoDomainReport('its archive is empty')));
    zip.on('entry', resolve);
    zip.readEntry();
  });
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = await zip.openReadStreamPromise(entry);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > REPORT_UNPACKED_MAX_BYTES) throw new NoDomainReport('its file is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Elements of which the text is read, by their path, without prefixes of namespaces. */
const META = 'feedback/report_metadata';
const ROW = 'feedback/record/row';
const READ_OF_REPORT: ReadonlySet<string> = new Set([
  `${META}/report_id`,
  `${META}/date_range/begin`,
  `${META}/date_range/end`,
  'feedback/policy_published/domain',
]);
const READ_OF_RECORD: ReadonlySet<string> = new Set([
  `${ROW}/source_ip`,
  `${ROW}/count`,
  ...['disposition', 'dkim', 'spf'].map((name) => `${ROW}/policy_evaluated/${name}`),
]);
/** The longest that RFC 7489 defines has 21. */
const ELEMENT_NAME_MAX_CHARACTERS = 64;

function dmarcReport(text: string): DomainReport {
  const facts = new Map<string, string>();
  const sources = new Map<string, { messages: number; passed: number; quarantined: number; rejected: number }>();
  let record = new Map<string, string>();
  const path: string[] = [];
  let value = '';
  const parser = new Parser(
    {
      onopentag(name) {
        if (name.length > ELEMENT_NAME_MAX_CHARACTERS) throw new NoDomainReport('its XML has too long a name');
        path.push(name.slice(name.indexOf(':') + 1).toLowerCase());
        if (path.length > REPORT_XML_DEPTH_MAX) throw new NoDomainReport('its XML is nested too deeply');
        value = '';
      },
      ontext(more) {
        if (value.length < REPORT_TEXT_MAX_CHARACTERS) value += more;
      },
      onclosetag() {
        const at = path.join('/');
        if (READ_OF_RECORD.has(at)) record.set(at, value.trim());
        else if (at === 'feedback/record') {
          addRecord(sources, record);
          record = new Map();
        } else if (READ_OF_REPORT.has(at) && !facts.has(at)) facts.set(at, value.trim());
        path.pop();
        value = '';
      },
      onprocessinginstruction(name) {
        if (name.toLowerCase() === '!doctype') throw new NoDomainReport('its XML defines entities of its own');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text);
  const seconds = (name: string) => Number(facts.get(`${META}/date_range/${name}`)) * 1_000;
  return {
    kind: 'dmarc',
    ...reportFacts(
      facts.get(`${META}/report_id`),
      facts.get('feedback/policy_published/domain'),
      seconds('begin'),
      seconds('end'),
    ),
    sources: [...sources]
      .map(([address, counts]) => ({ address, ...counts }))
      .sort((a, b) => b.messages - a.messages)
      .slice(0, REPORT_ROWS_MAX),
  };
}

function addRecord(
  sources: Map<string, { messages: number; passed: number; quarantined: number; rejected: number }>,
  record: ReadonlyMap<string, string>,
): void {
  const address = record.get(`${ROW}/source_ip`) ?? '';
  const count = countOf(record.get(`${ROW}/count`));
  if (count === undefined || !ipaddr.isValid(address)) throw new NoDomainReport('a record has no address or count');
  const evaluated = (name: string) => record.get(`${ROW}/policy_evaluated/${name}`)?.toLowerCase();
  const passed = evaluated('dkim') === 'pass' || evaluated('spf') === 'pass';
  const disposition = evaluated('disposition');
  const name = ipaddr.process(address).toString();
  const counts = sources.get(name) ?? { messages: 0, passed: 0, quarantined: 0, rejected: 0 };
  counts.messages += count;
  if (passed) counts.passed += count;
  if (disposition === 'quarantine') counts.quarantined += count;
  if (disposition === 'reject') counts.rejected += count;
  sources.set(name, counts);
}

/** A report about more mail than this is no honest one, and sums must stay exact. */
const COUNT_MAX = 1_000_000_000;

function countOf(text: unknown): number | undefined {
  const count = typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : text;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 && count <= COUNT_MAX
    ? count
    : undefined;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const recordsOf = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord).slice(0, REPORT_ROWS_MAX) : [];

function tlsReport(text: string): DomainReport {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    throw new NoDomainReport('its JSON is damaged');
  }
  if (!isRecord(report)) throw new NoDomainReport('its JSON is no object');
  const policies = recordsOf(report['policies']);
  const range = isRecord(report['date-range']) ? report['date-range'] : {};
  const time = (name: string) => Date.parse(textOf(range[name]));
  let [succeeded, failed, domain] = [0, 0, ''];
  const failures = new Map<string, TlsFailure>();
  for (const { policy, summary, 'failure-details': details } of policies) {
    // One report is about one domain (RFC 8460 §4.4); its policies are those of that domain.
    if (isRecord(policy) && domain === '') domain = textOf(policy['policy-domain']);
    const counted = isRecord(summary) ? summary : {};
    succeeded += countOf(counted['total-successful-session-count']) ?? 0;
    failed += countOf(counted['total-failure-session-count']) ?? 0;
    for (const detail of recordsOf(details)) {
      const type = textOf(detail['result-type']);
      const host = textOf(detail['receiving-mx-hostname']).toLowerCase();
      const key = `${type} ${host}`;
      const sessions = (failures.get(key)?.sessions ?? 0) + (countOf(detail['failed-session-count']) ?? 0);
      failures.set(key, { type, host, sessions });
    }
  }
  return {
    kind: 'tls',
    ...reportFacts(report['report-id'], domain, time('start-datetime'), time('end-datetime')),
    sessions: succeeded + failed,
    failed,
    failures: [...failures.values()].sort((a, b) => b.sessions - a.sessions).slice(0, REPORT_ROWS_MAX),
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? oneLine(value).slice(0, REPORT_TEXT_MAX_CHARACTERS).toWellFormed() : '';

/** Times of a report: between these, in milliseconds since 1970. */
const [TIME_MIN, TIME_MAX] = [Date.UTC(2012, 0), Date.UTC(2999, 0)];

function reportFacts(reportId: unknown, domain: unknown, fromMs: number, untilMs: number): ReportFacts {
  const [id, name] = [textOf(reportId), textOf(domain).toLowerCase().replace(/\.$/, '')];
  const isTime = (ms: number) => ms >= TIME_MIN && ms < TIME_MAX;
  if (id === '' || name === '' || !isTime(fromMs) || !isTime(untilMs) || untilMs < fromMs)
    throw new NoDomainReport('it is no DMARC or TLS report, or lacks its id, domain or dates');
  return { reportId: id, domain: name, from: new Date(fromMs), until: new Date(untilMs) };
}
