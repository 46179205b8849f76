/**
 * The mail log of a process. Each line is written at info at once. Refused and deferred transactions and failed logins
 * have no row of a message, so they are stored as well, to be found for 30 days (`mail find`): in batches behind the
 * answer, which never waits for them.
 *
 *   note ─────────────────────────▶ line
 *   refused ─▶ bounded by source ─▶ line ─▶ batch ─▶ rows of mail_refusal, one for each organization
 *                    └─ more than the bound: counted, one line for the source at the end of the minute
 *
 * A row that cannot be stored is lost; its line is not. So it is for rows beyond what may wait while the database is slow or
 * away, and beyond those of a day: the log of the process has a warning then.
 */
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { batcher, inOrder } from '#core/platform/batching/batcher.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import {
  REFUSALS_PER_SOURCE_MAX,
  REFUSALS_PER_WINDOW_MAX,
  REFUSALS_STORED_PER_DAY_MAX,
  REFUSALS_WAITING_MAX,
  REFUSALS_WINDOW_MS,
} from '#domain/mail/mail-log.ts';
import { deliveryAddress } from '#domain/mail/mailbox-address.ts';
import { boundedLine, type MailLine } from './mail-line.ts';

export interface MailLog {
  /** A transaction that has a row elsewhere. */
  note(line: MailLine): void;
  /** A refused or deferred transaction, or a failed login. Never waits, never throws. */
  refused(line: MailLine): void;
  /** Stores what waits. */
  close(): Promise<void>;
}

interface Refusal {
  readonly at: Date;
  readonly line: MailLine;
}

const BATCH_MAX = 200;
const GATHER_MS = 250;
/** Sources that have a line of their own at the end of a minute. */
const COUNTED_SOURCES_MAX = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** How many refusals of this process may wait for the database, and may be stored in a day (UTC). */
interface StoredMax {
  readonly waiting: number;
  readonly perDay: number;
}

export function openMailLog(
  log: Logger,
  sql: Sql,
  now: () => number,
  max: StoredMax = { waiting: REFUSALS_WAITING_MAX, perDay: REFUSALS_STORED_PER_DAY_MAX },
): MailLog {
  const rows = batcher<Refusal, true>({
    carryOut: async (refusals) => {
      await storeRefusals(sql, refusals);
      return refusals.map(() => true as const);
    },
    policy: inOrder(BATCH_MAX, GATHER_MS),
    concurrency: 1,
  });
  const writeCounted = (line: MailLine) => log.info(boundedLine(line), 'mail');
  // Apart, so that nobody hides failed logins by refused mail.
  const bounds = { logins: refusalBound(writeCounted, 'login'), others: refusalBound(writeCounted, 'in') };
  const store = storedBound(log, now, max);
  return {
    note: (line) => log.info(boundedLine(line), 'mail'),
    refused(given) {
      const line = boundedLine(given);
      if (!bounds[line.mail === 'login' ? 'logins' : 'others'].admits(line)) return;
      log.info(line, 'mail');
      if (!store.begin()) return;
      rows
        .add({ at: new Date(now()), line })
        .catch((error: unknown) =>
          // An outage is reported where requests fail by it.
          log[isInfrastructureError(error) ? 'debug' : 'warn']({ reason: reasonOf(error) }, 'a refusal was not stored'),
        )
        .finally(store.end);
    },
    async close() {
      bounds.logins.close();
      bounds.others.close();
      await rows.idle();
    },
  };
}

/** Admits rows as long as neither bound is reached; the first one that is left out has a warning, once a day for each bound. */
function storedBound(log: Logger, now: () => number, max: StoredMax): { begin(): boolean; end(): void } {
  let [waiting, day, stored] = [0, 0, 0];
  const warned = new Set<string>();

  function leftOut(reason: string): false {
    if (!warned.has(reason)) log.warn({ reason }, 'refusals are not stored; their lines are in this log');
    warned.add(reason);
    return false;
  }

  return {
    begin() {
      const today = Math.floor(now() / DAY_MS);
      if (today !== day) {
        [day, stored] = [today, 0];
        warned.clear();
      }
      if (waiting >= max.waiting) return leftOut(`${max.waiting} wait for the database`);
      if (stored >= max.perDay) return leftOut(`${max.perDay} were stored today`);
      waiting++;
      stored++;
      return true;
    },
    end() {
      waiting--;
    },
  };
}

interface RefusalBound {
  admits(line: MailLine): boolean;
  close(): void;
}

/**
 * @param writeCounted given a line with `more` for each source with more than it may, at the end of a window
 * @param mail of the line that counts those of all other sources
 */
function refusalBound(writeCounted: (line: MailLine) => void, mail: MailLine['mail']): RefusalBound {
  let sources = new Map<string, { admitted: number; counted: number; last: MailLine }>();
  let [admitted, counted] = [0, 0];
  let timer: NodeJS.Timeout | undefined;

  function endWindow(): void {
    clearTimeout(timer);
    timer = undefined;
    const over = [...sources.values()].filter((source) => source.counted > 0);
    for (const { counted: more, last } of over.slice(0, COUNTED_SOURCES_MAX)) {
      counted -= more;
      writeCounted({ mail: last.mail, outcome: last.outcome, listener: last.listener, client: last.client, more });
    }
    if (counted > 0) writeCounted({ mail, outcome: 'refused', more: counted });
    sources = new Map();
    [admitted, counted] = [0, 0];
  }

  return {
    admits(line) {
      timer ??= setTimeout(endWindow, REFUSALS_WINDOW_MS).unref();
      const key = sourceOf(line.client ?? '');
      const source = sources.get(key) ?? { admitted: 0, counted: 0, last: line };
      // Sources beyond so many are counted together.
      if (sources.size < REFUSALS_PER_WINDOW_MAX) sources.set(key, source);
      source.last = line;
      if (source.admitted < REFUSALS_PER_SOURCE_MAX && admitted < REFUSALS_PER_WINDOW_MAX) {
        source.admitted++;
        admitted++;
        return true;
      }
      source.counted++;
      counted++;
      return false;
    },
    close: endWindow,
  };
}

interface RefusalRow {
  readonly id: string;
  readonly at: Date;
  readonly organizationId: string | null;
  readonly keys: readonly string[];
  readonly line: MailLine;
}

async function storeRefusals(sql: Sql, refusals: readonly Refusal[]): Promise<void> {
  const owners = [...new Set(refusals.flatMap(({ line }) => ownAddresses(line)))];
  const found = await sql.query<{ name: string; organizationId: string }>(OWNERS, [
    owners,
    [...new Set(owners.map((address) => atDomain(address).slice(1)))],
  ]);
  const organizations = new Map(found.map(({ name, organizationId }) => [name, organizationId]));
  const rows = refusals.flatMap((each) => rowsOf(each, organizations));
  await sql.query(INSERT, [JSON.stringify(rows)]);
}

/** Mailboxes and aliases by address, and verified domains, whose unknown addresses belong to their organization as well. */
const OWNERS = `
  select address as name, organization_id as "organizationId" from mailboxes where address = any($1) and deleted_at is null
  union all
  select address, organization_id from mailbox_alias where address = any($1) and deleted_at is null
  union all
  select '@' || name, organization_id from domains where name = any($2) and status = 'verified'`;

/** `@` and the domain. */
const atDomain = (address: string): string => `@${address.slice(address.lastIndexOf('@') + 1)}`;

const INSERT = `
  insert into mail_refusal (id, at, organization_id, keys, line)
  select id, at, "organizationId", array(select jsonb_array_elements_text(keys)), line
    from jsonb_to_recordset($1::jsonb) as r(id text, at timestamptz, "organizationId" text, keys jsonb, line jsonb)`;

/** Addresses whose organization the refusal belongs to. */
function ownAddresses({ mail, listener, to, from, account }: MailLine): string[] {
  if (mail === 'in') return (to ?? []).map(mailboxAddress);
  // Before a login, the sender is what a stranger wrote.
  const proven = mail === 'submission' && listener === 'submission' ? account : (account ?? from);
  return [mailboxAddress(proven ?? '')];
}

const mailboxAddress = (address: string): string =>
  address.includes('@') ? deliveryAddress(address) : address.toLowerCase();

/** One row for each organization, with its own recipients: no organization sees the recipients of another one. */
function rowsOf({ at, line }: Refusal, organizations: ReadonlyMap<string, string>): RefusalRow[] {
  const row = (organizationId: string | null, own: MailLine): RefusalRow => ({
    id: newId('mailRefusal', at.getTime()),
    at,
    organizationId,
    keys: keysOf(own),
    line: own,
  });
  const ofMailbox = (address: string) => organizations.get(mailboxAddress(address));
  if (line.mail !== 'in' || (line.to ?? []).length === 0)
    return [row(ofMailbox(ownAddresses(line)[0] ?? '') ?? null, line)];
  const groups = Map.groupBy(
    line.to ?? [],
    (address) => ofMailbox(address) ?? organizations.get(atDomain(mailboxAddress(address))) ?? null,
  );
  return [...groups].map(([organizationId, to]) =>
    row(organizationId, groups.size === 1 ? line : { ...line, to, recipients: to.length }),
  );
}

/** What a refusal is found by, in lower case. */
function keysOf({ from, to = [], account, client, messages = [], messageId, session, request }: MailLine): string[] {
  const keys = [from, ...to, ...to.map(mailboxAddress), account, client, ...messages, messageId, session, request];
  return [...new Set(keys.flatMap((key) => (key ? [key.toLowerCase()] : [])))];
}
