/**
 * Login on the doors of mail clients: address and mailbox token.
 *
 *   throttle ─▶ token's hash ─▶ does it open this address? ─▶ connections of the mailbox ─▶ session, watched until its end
 *
 * Unknown mailbox, wrong token and suspended mailbox are answered alike, after a random delay. A session ends when its
 * token is rotated or its mailbox suspended or deleted, by any process: whoever changes that says so (see
 * `core/mailbox-access.ts`), and here the row is read again. Should the word get lost, the sweep finds it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hashCredential } from '../core/credentials.ts';
import type { Services } from '../core/services.ts';
import { isDatabaseAway } from '../db/database-away.ts';
import { isCredential } from '../domain/credential-format.ts';
import {
  CONNECTIONS_PER_MAILBOX_MAX,
  LOGIN_FAILURE_DELAY_MAX_MS,
  LOGIN_FAILURE_DELAY_MIN_MS,
} from '../domain/mail-limits.ts';
import type { MailboxStatus } from '../domain/mailbox-status.ts';
import { loginThrottle } from './login-throttle.ts';
import {
  type Login,
  type LoginResult,
  type MailAccount,
  type MailboxStore,
  StoreUnavailable,
} from './store/interface.ts';
import type { MailNotifier } from './store/notifier.ts';

export interface Authenticator {
  /** Login of one connection. Call `release` when the connection has ended. */
  forConnection(): { readonly login: Login; release(): void };
  close(): void;
}

export interface AuthenticatorOptions {
  readonly services: Pick<Services, 'db' | 'log' | 'now' | 'pepper'>;
  readonly notifier: Pick<MailNotifier, 'watchMailbox'>;
  openStore(account: MailAccount): MailboxStore;
  /** Delay of the answer to a failed login, in milliseconds. */
  readonly failureDelayMs?: () => number;
}

type Door = Parameters<Login>[0]['door'];

interface Session {
  readonly mailboxId: string;
  readonly tokenHash: Buffer;
  readonly listeners: Set<() => void>;
  ended: boolean;
}

interface MailboxRow {
  id: string;
  address: string;
  status: MailboxStatus;
  token_hash: Buffer;
}

/** Mailboxes that may be opened: one of a domain that is not verified yet is empty, but there. */
const OPEN_STATUSES: readonly MailboxStatus[] = ['active', 'pending'];
const SWEEP_MS = 60_000;

const randomFailureDelayMs = (): number =>
  LOGIN_FAILURE_DELAY_MIN_MS + Math.random() * (LOGIN_FAILURE_DELAY_MAX_MS - LOGIN_FAILURE_DELAY_MIN_MS);

const FIND_BY_TOKEN = `
  select id, address, status, token_hash from mailboxes where token_hash = $1 and deleted_at is null`;
const FIND_BY_ID = `
  select id, address, status, token_hash from mailboxes where id = any($1::text[]) and deleted_at is null`;

export function openAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { db, log, now, pepper } = options.services;
  const failureDelayMs = options.failureDelayMs ?? randomFailureDelayMs;
  const throttle = loginThrottle(now);
  const sessions = new Map<string, Set<Session>>();
  const connections = new Map<string, number>();
  const toCheck = new Set<string>();
  let checking = false;

  /** The mailbox a token opens under this address. Both are looked at in any case: a miss costs what a hit does. */
  async function find(address: string, token: string): Promise<MailboxRow | undefined> {
    if (!isCredential('mailboxToken', token)) return undefined;
    const [row] = await db.query<MailboxRow>(FIND_BY_TOKEN, [hashCredential(token, pepper)]);
    if (row === undefined || row.address !== address || !OPEN_STATUSES.includes(row.status)) return undefined;
    return row;
  }

  function endSession(session: Session): void {
    if (session.ended) return;
    session.ended = true;
    for (const listener of session.listeners) listener();
  }

  /** Reads the rows of watched mailboxes again, those asked for meanwhile in one go. */
  function check(mailboxIds: Iterable<string>): void {
    for (const id of mailboxIds) toCheck.add(id);
    if (checking || toCheck.size === 0) return;
    checking = true;
    setImmediate(async () => {
      const ids = [...toCheck];
      toCheck.clear();
      try {
        const rows = await db.query<MailboxRow>(FIND_BY_ID, [ids]);
        const found = new Map(rows.map((row) => [row.id, row]));
        for (const id of ids) {
          const row = found.get(id);
          for (const session of sessions.get(id) ?? [])
            if (row === undefined || !OPEN_STATUSES.includes(row.status) || !row.token_hash.equals(session.tokenHash))
              endSession(session);
        }
      } catch (error) {
        log.warn({ error: error instanceof Error ? error.message : undefined }, 'sessions could not be checked');
      }
      checking = false;
      check([]);
    });
  }

  const sweep = setInterval(() => check(sessions.keys()), SWEEP_MS);
  sweep.unref();

  function openSession({ id, token_hash: tokenHash }: MailboxRow): { session: Session; close(): void } {
    const session: Session = { mailboxId: id, tokenHash, listeners: new Set(), ended: false };
    const ofMailbox = sessions.get(id) ?? new Set();
    sessions.set(id, ofMailbox.add(session));
    const unwatch = options.notifier.watchMailbox(id, () => check([id]));
    // What changed between reading the row and watching it.
    check([id]);
    return {
      session,
      close() {
        unwatch();
        session.listeners.clear();
        ofMailbox.delete(session);
        if (ofMailbox.size === 0 && sessions.get(id) === ofMailbox) sessions.delete(id);
      },
    };
  }

  /** @returns gives the place back; undefined when the mailbox has as many connections as it may */
  function takePlace(door: Door, mailboxId: string): (() => void) | undefined {
    const key = `${door} ${mailboxId}`;
    const count = connections.get(key) ?? 0;
    if (count >= CONNECTIONS_PER_MAILBOX_MAX[door]) return undefined;
    connections.set(key, count + 1);
    return () => {
      const left = (connections.get(key) ?? 1) - 1;
      if (left > 0) connections.set(key, left);
      else connections.delete(key);
    };
  }

  return {
    forConnection() {
      const releases: (() => void)[] = [];
      let released = false;
      return {
        async login({ door, address, token, remoteAddress }): Promise<LoginResult> {
          const name = address.trim().toLowerCase();
          const admission = await throttle.admit(remoteAddress, name);
          if (admission.kind === 'throttled') return admission;
          let row: MailboxRow | undefined;
          try {
            row = await find(name, token);
          } catch (error) {
            admission.settle('unknown');
            throw isDatabaseAway(error) ? new StoreUnavailable('the database is away', { cause: error }) : error;
          }
          admission.settle(row === undefined ? 'failed' : 'passed');
          if (row === undefined) {
            log.info({ door, remoteAddress }, 'a login failed');
            await delay(failureDelayMs(), undefined, { ref: false });
            return { kind: 'refused' };
          }
          const giveBack = takePlace(door, row.id);
          if (giveBack === undefined) return { kind: 'too-many-connections' };
          const { session, close } = openSession(row);
          releases.push(giveBack, close);
          if (released) for (const release of releases.splice(0)) release();
          const account: MailAccount = { mailboxId: row.id, address: row.address };
          return {
            kind: 'ok',
            account,
            store: options.openStore(account),
            onClosed(listener) {
              if (session.ended) queueMicrotask(listener);
              else session.listeners.add(listener);
              return () => session.listeners.delete(listener);
            },
          };
        },
        release() {
          released = true;
          for (const release of releases.splice(0)) release();
        },
      };
    },
    close() {
      clearInterval(sweep);
    },
  };
}
