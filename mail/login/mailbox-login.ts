/**
 * Login of mail clients: address and a token of the mailbox.
 *
 *   throttle ─▶ token's hash ─▶ is it for this address? ─▶ may it use this protocol? ─▶ connections of the mailbox
 *                                                                                    ─▶ session, watched until its end
 *
 * Unknown mailbox, wrong or expired token and suspended mailbox or organization are answered alike, after a random delay. A session ends
 * when its token expires, is rotated or revoked, or its mailbox is suspended or deleted, by any process: the change sends
 * a notification (see `core/mailboxes/mailbox-logins.ts`), and this process reads the rows again. If the notification is
 * lost, the sweep finds the change.
 */

import { setTimeout as delay } from 'node:timers/promises';
import {
  type Login,
  type LoginResult,
  type MailAccount,
  type MailboxStore,
  StoreUnavailable,
} from '@agent-mailbox/mail-store';
import { readOnlyStore } from '@agent-mailbox/mail-store/read-only-store';
import { noteLogin } from '#core/mailboxes/mailbox-logins.ts';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { OPENED_AS } from '#db/queries/mailboxes/status-now.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import {
  CONNECTIONS_PER_MAILBOX_MAX,
  LOGIN_FAILURE_DELAY_MAX_MS,
  LOGIN_FAILURE_DELAY_MIN_MS,
} from '#domain/mail/mail-limits.ts';
import { type MailboxStatus, type TokenAccess, type TokenNeed, tokenAllows } from '#domain/organizations/mailboxes.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { loginThrottle } from './login-throttle.ts';

export interface Authenticator {
  /** Login of one connection. Call `release` when the connection has ended. */
  /** @param connectionId for the mail log */
  forConnection(connectionId: string): { readonly login: Login; release(): void };
  close(): void;
}

export interface AuthenticatorOptions {
  readonly services: Pick<Services, 'db' | 'log' | 'now' | 'pepper' | 'mailLog'>;
  readonly notifier: Pick<MailNotifier, 'watchMailbox'>;
  openStore(account: MailAccount): MailboxStore;
  /** Delay of the answer to a failed login, in milliseconds. */
  readonly failureDelayMs?: () => number;
}

type Protocol = Parameters<Login>[0]['protocol'];

interface Session {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly listeners: Set<() => void>;
  ended: boolean;
}

/** A mailbox with sessions. Its sessions share its stores, so that an idle client costs none of its own. */
interface OpenMailbox {
  readonly account: MailAccount;
  readonly sessions: Set<Session>;
  readonly store: MailboxStore;
  /** For tokens that may only read. */
  readonly readOnly: MailboxStore;
  unwatch(): void;
}

interface TokenRow {
  token_id: string;
  /** Hexadecimal. A buffer of a row keeps the 64 KB that came with it, here as long as the session. */
  token_hash: string;
  access: TokenAccess;
  expires_at: Date | null;
  mailbox_id: string;
  address: string;
  status: MailboxStatus;
}

/** Mailboxes that may be opened: one of a domain that is not verified yet exists, but is empty. */
const OPEN_STATUSES: readonly MailboxStatus[] = ['active', 'pending'];
const SWEEP_MS = 60_000;

const randomFailureDelayMs = (): number =>
  LOGIN_FAILURE_DELAY_MIN_MS + Math.random() * (LOGIN_FAILURE_DELAY_MAX_MS - LOGIN_FAILURE_DELAY_MIN_MS);

const SELECT = `
  select t.id as token_id, encode(t.token_hash, 'hex') as token_hash, t.access, least(t.expires_at, x.expires_at) as expires_at,
         x.id as mailbox_id, x.address,
         ${OPENED_AS} as status
    from mailbox_token t join mailboxes x on x.id = t.mailbox_id join organizations o on o.id = x.organization_id
   where x.deleted_at is null and (t.expires_at is null or t.expires_at > $2)`;
const FIND_BY_HASH = `${SELECT} and t.token_hash = $1`;
const FIND_BY_MAILBOX = `${SELECT} and x.id = any($1::text[])`;

/** What a token must allow to log in. */
const NEEDS: Readonly<Record<Protocol, TokenNeed>> = { imap: 'read', pop3: 'read', smtp: 'send' };
/** The longest timer of Node; a token that expires later is found by the sweep. */
const TIMER_MAX_MS = 2_147_483_647;

export function openAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { db, log, now, pepper, mailLog } = options.services;
  const failureDelayMs = options.failureDelayMs ?? randomFailureDelayMs;
  const throttle = loginThrottle(now);
  const mailboxes = new Map<string, OpenMailbox>();
  const connections = new Map<string, number>();
  const toCheck = new Set<string>();
  let checking = false;

  /** The mailbox a token opens under this address. Both are checked in any case: a miss takes as long as a hit. */
  async function find(address: string, token: string): Promise<TokenRow | undefined> {
    if (!isCredential('mailboxToken', token)) return undefined;
    const [row] = await db.query<TokenRow>(FIND_BY_HASH, [hashCredential(token, pepper), new Date(now())]);
    if (row === undefined || row.address !== address || !OPEN_STATUSES.includes(row.status)) return undefined;
    return row;
  }

  function endSession(session: Session): void {
    if (session.ended) return;
    session.ended = true;
    for (const listener of session.listeners) listener();
  }

  /** Reads the tokens of watched mailboxes again; requests made meanwhile share the next read. */
  function check(mailboxIds: Iterable<string>): void {
    for (const id of mailboxIds) toCheck.add(id);
    if (checking || toCheck.size === 0) return;
    checking = true;
    setImmediate(async () => {
      const ids = [...toCheck];
      toCheck.clear();
      // Not those that begin while the rows are read: these may be older than their tokens, and each has asked again.
      const sessions = ids.flatMap((id) => [...(mailboxes.get(id)?.sessions ?? [])]);
      try {
        const rows = await db.query<TokenRow>(FIND_BY_MAILBOX, [ids, new Date(now())]);
        const found = new Map(rows.map((row) => [row.token_id, row]));
        for (const session of sessions) {
          const row = found.get(session.tokenId);
          if (row === undefined || !OPEN_STATUSES.includes(row.status) || row.token_hash !== session.tokenHash)
            endSession(session);
        }
      } catch (error) {
        if (!noticeOutage(log, error)) log.warn({ reason: reasonOf(error) }, 'sessions could not be checked');
      }
      checking = false;
      check([]);
    });
  }

  const sweep = setInterval(() => check(mailboxes.keys()), SWEEP_MS);
  sweep.unref();

  function openMailbox({ mailbox_id: mailboxId, address }: TokenRow): OpenMailbox {
    const found = mailboxes.get(mailboxId);
    if (found !== undefined) return found;
    const account: MailAccount = { mailboxId, address };
    const store = options.openStore(account);
    const unwatch = options.notifier.watchMailbox(mailboxId, () => check([mailboxId]));
    const opened: OpenMailbox = { account, sessions: new Set(), store, readOnly: readOnlyStore(store), unwatch };
    mailboxes.set(mailboxId, opened);
    return opened;
  }

  function openSession(row: TokenRow): { session: Session; mailbox: OpenMailbox; close(): void } {
    const { mailbox_id: id, token_id: tokenId, token_hash: tokenHash, expires_at: expiresAt } = row;
    const session: Session = { tokenId, tokenHash, listeners: new Set(), ended: false };
    const mailbox = openMailbox(row);
    mailbox.sessions.add(session);
    // Catches changes between reading the row and watching it.
    check([id]);
    const expiry =
      expiresAt === null
        ? undefined
        : setTimeout(() => check([id]), Math.min(Math.max(0, expiresAt.getTime() - now()), TIMER_MAX_MS)).unref();
    return {
      session,
      mailbox,
      close() {
        clearTimeout(expiry);
        session.listeners.clear();
        mailbox.sessions.delete(session);
        if (mailbox.sessions.size > 0 || mailboxes.get(id) !== mailbox) return;
        mailboxes.delete(id);
        mailbox.unwatch();
      },
    };
  }

  /** @returns a function that frees the place; undefined if the mailbox has its maximum number of connections */
  function takePlace(protocol: Protocol, mailboxId: string): (() => void) | undefined {
    const key = `${protocol} ${mailboxId}`;
    const count = connections.get(key) ?? 0;
    if (count >= CONNECTIONS_PER_MAILBOX_MAX[protocol]) return undefined;
    connections.set(key, count + 1);
    return () => {
      const left = (connections.get(key) ?? 1) - 1;
      if (left > 0) connections.set(key, left);
      else connections.delete(key);
    };
  }

  return {
    forConnection(connectionId) {
      const releases: (() => void)[] = [];
      let released = false;
      return {
        async login({ protocol, address, token, remoteAddress }): Promise<LoginResult> {
          const name = address.trim().toLowerCase();
          const refused = (reply: string) =>
            mailLog.refused({
              mail: 'login',
              outcome: 'refused',
              listener: protocol === 'smtp' ? 'submission' : protocol,
              session: connectionId,
              client: remoteAddress,
              account: name,
              reply,
            });
          const admission = await throttle.admit(remoteAddress, name);
          const ended = (outcome: string) => loginsTotal.inc({ protocol, outcome });
          if (admission.kind === 'throttled') {
            ended('throttled');
            refused('too many failed logins');
            return admission;
          }
          let row: TokenRow | undefined;
          try {
            row = await find(name, token);
          } catch (error) {
            admission.settle('unknown');
            ended('unavailable');
            throw isInfrastructureError(error)
              ? new StoreUnavailable('the database cannot be used', { cause: error })
              : error;
          }
          admission.settle(row === undefined ? 'failed' : 'passed');
          if (row === undefined) {
            ended('failed');
            refused('address or token is wrong');
            await delay(failureDelayMs(), undefined, { ref: false });
            return { kind: 'refused' };
          }
          if (!tokenAllows(row.access, NEEDS[protocol])) {
            ended('not_permitted');
            const text = `This token may only ${row.access}`;
            refused(text);
            return { kind: 'not-permitted', text };
          }
          const giveBack = takePlace(protocol, row.mailbox_id);
          if (giveBack === undefined) {
            ended('too_many_connections');
            refused('too many connections of the mailbox');
            return { kind: 'too-many-connections' };
          }
          ended('passed');
          releases.push(giveBack);
          noteLogin(options.services, { mailboxId: row.mailbox_id, tokenId: row.token_id }, protocol);
          const { session, mailbox, close } = openSession(row);
          releases.push(close);
          if (released) for (const release of releases.splice(0)) release();
          return {
            kind: 'ok',
            account: mailbox.account,
            store: tokenAllows(row.access, 'change') ? mailbox.store : mailbox.readOnly,
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
