/**
 * Certificates by ACME: which names need one, when it is ordered, and where it is. Each name has a certificate of its own,
 * so one that fails does not hold up the others. The database has them, sealed; every process that uses one reads it
 * from there (`certificate-files.ts`).
 *
 *   due ──one process leases it──▶ order ──▶ stored, due again when a third of its life is left
 *                                      └──failed──▶ due again after a wait that doubles
 *
 * A lease ends by itself, so an order whose process died is made again.
 */
import { randomInt, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { stsHost } from '#core/mailboxes/mta-sts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { acmeOrdersTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type SharedTurns, startSharedTurns } from '#core/platform/process/shared-turns.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';
import { AcmeError, newAccountKey, orderCertificate } from './acme-client.ts';

type CertificateServices = Pick<Services, 'db' | 'secrets' | 'settings' | 'now' | 'log'>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LOOK_EVERY_MS = MINUTE_MS;
/** Of one order; the lease is longer. */
const ORDER_WITHIN_MS = 5 * MINUTE_MS;
const LEASE_MS = 2 * ORDER_WITHIN_MS;
/** After the first failure; doubled with each. Authorities allow five failed checks of a name an hour. */
const RETRY_FIRST_MS = 15 * MINUTE_MS;
const RETRY_MAX_MS = DAY_MS;
/** Of the life of a certificate: how long before its end it is renewed, and how much earlier by chance. */
const RENEW_BEFORE_PART = 1 / 3;
const JITTER_PART = 1 / 30;

/** Identities of sealed values (see `core/platform/secrets/sealed-secrets.ts`). */
export const acmeAccountPlace = (directory: string): string => `acme_account:key:${directory}`;
export const acmeKeyPlace = (name: string): string => `acme_certificate:key:${name}`;

export interface AcmeCertificate {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly orderAt: Date;
  readonly failures: number;
  readonly failedAt: Date | null;
  readonly failure: string | null;
}

/** Names that this installation serves by TLS; none: ACME is off. */
export function certificateNames(settings: Settings): string[] {
  const { ACME_DIRECTORY, ACME_NAMES, API_PUBLIC_URL, API_TLS_PORT, MAIL_HOSTNAME } = settings;
  if (ACME_DIRECTORY === undefined) return [];
  const ofApi = API_TLS_PORT === 0 || API_PUBLIC_URL === undefined ? [] : [new URL(API_PUBLIC_URL).hostname];
  // The proxy in front of an API without TLS has certificates of its own.
  const ofPolicy = API_TLS_PORT === 0 || settings.MTA_STS_MODE === 'off' ? [] : [stsHost(settings.MAIL_DOMAIN)];
  const names = [MAIL_HOSTNAME, ...ofApi, ...ofPolicy, ...ACME_NAMES].map((name) => name.toLowerCase());
  return [...new Set(names)].filter((name) => isIP(name) === 0 && name.includes('.'));
}

/** Of organizations, at most: each is an order. */
const CUSTOMER_NAMES_MAX = 500;

/** The same, and the hosts of policies of verified domains that DNS leads here, as `verify` of the domain found it. */
export async function servedNames(sql: Sql, settings: Settings): Promise<string[]> {
  const names = certificateNames(settings);
  if (names.length === 0 || settings.API_TLS_PORT === 0 || settings.MTA_STS_MODE === 'off') return names;
  const domains = await sql.query<{ name: string }>(
    `select name from domains
      where status = 'verified' and records @> '[{"purpose": "mta_sts_host", "status": "found"}]' order by id limit $1`,
    [CUSTOMER_NAMES_MAX],
  );
  return [...new Set([...names, ...domains.map(({ name }) => stsHost(name))])];
}

/** Of all names that have or had one, by name. */
export const listCertificates = (sql: Sql): Promise<AcmeCertificate[]> =>
  sql.query<AcmeCertificate>(
    `select name, issued_at as "issuedAt", expires_at as "expiresAt", order_at as "orderAt", failures,
            failed_at as "failedAt", failure
       from acme_certificate order by name`,
  );

export interface StoredCertificate {
  readonly name: string;
  /** PEM, the certificate first. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

/** Those that were issued. */
export async function readCertificates(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  names: readonly string[],
): Promise<StoredCertificate[]> {
  const rows = await db.query<{ name: string; chain: string; sealed: string }>(
    `select name, chain, key_sealed as sealed from acme_certificate where name = any($1::text[]) and chain is not null`,
    [names],
  );
  return rows.map(({ name, chain, sealed }) => ({ name, chain, key: secrets.open(sealed, acmeKeyPlace(name)) }));
}

/** What the listener for challenges answers for a token; undefined: nothing. */
export async function challengeAnswer(sql: Sql, token: string): Promise<string | undefined> {
  const [row] = await sql.query<{ answer: string }>(
    'select answer from acme_challenge where token = $1 and expires_at > now()',
    [token],
  );
  return row?.answer;
}

/** Orders what is due, in one process of the installation at a time, as long as this one runs. */
export const startCertificateOrders = (services: CertificateServices): SharedTurns =>
  startSharedTurns(services, {
    name: 'certificates',
    everyMs: LOOK_EVERY_MS,
    async work(stopping) {
      await orderDueCertificates(services, stopping);
    },
  });

/** @returns names of the certificates that were issued */
export async function orderDueCertificates(services: CertificateServices, stopping: AbortSignal): Promise<string[]> {
  const { db, settings, now, log } = services;
  const directory = settings.ACME_DIRECTORY;
  if (directory === undefined) return [];
  const names = await servedNames(db, settings);
  await db.query(`insert into acme_certificate (name, order_at) select unnest($1::text[]), $2 on conflict do nothing`, [
    names,
    new Date(now()),
  ]);
  await db.query('delete from acme_challenge where expires_at < now()');
  const issued: string[] = [];
  while (!stopping.aborted) {
    const [due] = await db.query<{ name: string; failures: number }>(LEASE, [
      names,
      new Date(now()),
      new Date(now() + LEASE_MS),
      certificateNames(settings).length,
    ]);
    if (due === undefined) break;
    const { name, failures } = due;
    try {
      await order(services, directory, name, AbortSignal.any([stopping, AbortSignal.timeout(ORDER_WITHIN_MS)]));
      issued.push(name);
      acmeOrdersTotal.inc({ outcome: 'issued' });
      log.info({ name, authority: directory }, 'a certificate was issued');
    } catch (error) {
      // A process that stops says nothing about the order: another one takes it.
      if (stopping.aborted) {
        await db.query('update acme_certificate set leased_until = null where name = $1', [name]);
        break;
      }
      acmeOrdersTotal.inc({ outcome: 'failed' });
      const reason = reasonOf(error);
      const waitMs = retryWaitMs(failures, error instanceof AcmeError ? error.retryAfterMs : undefined);
      await db.query(FAILED, [name, new Date(now()), reason, new Date(now() + waitMs)]);
      log.warn({ name, authority: directory, reason, againInMs: waitMs }, 'the order of a certificate failed');
    }
  }
  return issued;
}

/** Those of the installation first, then those of customers. Another one of several processes takes the next. */
const LEASE = `
  update acme_certificate set leased_until = $3
   where name = (
     select name from acme_certificate
      where name = any($1::text[]) and order_at <= $2 and (leased_until is null or leased_until <= $2)
      order by array_position($1::text[], name) > $4, order_at, name for update skip locked limit 1)
  returning name, failures`;
const FAILED = `
  update acme_certificate
     set failures = failures + 1, failed_at = $2, failure = $3, order_at = $4, leased_until = null
   where name = $1`;

/** Before the next order. @param failures before this one */
function retryWaitMs(failures: number, askedMs: number | undefined): number {
  const doubledMs = Math.min(RETRY_FIRST_MS * 2 ** Math.min(failures, 20), RETRY_MAX_MS);
  const jitterMs = randomInt(Math.ceil(doubledMs / 10));
  return Math.max(doubledMs, askedMs ?? 0) + jitterMs;
}

/** When a certificate is to be renewed: a third of its life before the end, and a little earlier by chance. */
export function renewalOf(chain: string): {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly orderAt: Date;
} {
  const { validFromDate, validToDate } = new X509Certificate(chain);
  const lifeMs = validToDate.getTime() - validFromDate.getTime();
  const jitterMs = randomInt(Math.max(1, Math.ceil(lifeMs * JITTER_PART)));
  return {
    issuedAt: validFromDate,
    expiresAt: validToDate,
    orderAt: new Date(validToDate.getTime() - lifeMs * RENEW_BEFORE_PART - jitterMs),
  };
}

async function order(
  services: CertificateServices,
  directory: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, secrets, settings } = services;
  const roots = settings.ACME_ROOTS === undefined ? undefined : await readFile(settings.ACME_ROOTS, 'utf8');
  const presented: string[] = [];
  try {
    const { chain, key } = await orderCertificate({
      directory,
      accountKey: await accountKeyOf(services, directory),
      email: settings.ACME_EMAIL,
      names: [name],
      roots,
      signal,
      async present(token, answer) {
        presented.push(token);
        await db.query(
          `insert into acme_challenge (token, answer, expires_at) values ($1, $2, now() + make_interval(secs => $3))
           on conflict (token) do update set answer = excluded.answer, expires_at = excluded.expires_at`,
          [token, answer, LEASE_MS / 1_000],
        );
      },
    });
    const { issuedAt, expiresAt, orderAt } = renewalOf(chain);
    await db.query(
      `update acme_certificate
          set chain = $2, key_sealed = $3, issued_at = $4, expires_at = $5, order_at = $6, leased_until = null,
              failures = 0, failed_at = null, failure = null
        where name = $1`,
      [name, chain, secrets.seal(key, acmeKeyPlace(name)), issuedAt, expiresAt, orderAt],
    );
  } finally {
    await db.query('delete from acme_challenge where token = any($1::text[])', [presented]).catch(() => {});
  }
}

/** One for each authority; the first process makes it. */
async function accountKeyOf({ db, secrets }: CertificateServices, directory: string): Promise<string> {
  const place = acmeAccountPlace(directory);
  await db.query(`insert into acme_account (directory, key_sealed) values ($1, $2) on conflict do nothing`, [
    directory,
    secrets.seal(newAccountKey(), place),
  ]);
  const [row] = await db.query<{ sealed: string }>(
    'select key_sealed as sealed from acme_account where directory = $1',
    [directory],
  );
  if (row === undefined) throw new Error('the account of the authority was stored and is not there');
  return secrets.open(row.sealed, place);
}
