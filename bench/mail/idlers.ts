import type { ListenerAddress } from '#mail/client-listeners.ts';
import { ImapClient } from './imap-client.ts';
import { mixedMessage } from './messages.ts';
import type { Account, MailBenchWorld } from './world.ts';

/** As many connections as one mailbox may have. */
const PER_MAILBOX = 20;
const MESSAGES_EACH = 10;
const OPENING_AT_ONCE = 10;

let made = 0;

/** Mailboxes with a few messages, enough for so many connections. */
export async function idlerMailboxes(world: MailBenchWorld, connections: number): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let i = 0; i < Math.ceil(connections / PER_MAILBOX); i++) {
    const account = await world.makeMailbox(`idler-${++made}`);
    await world.fill(account, MESSAGES_EACH, mixedMessage, MESSAGES_EACH);
    accounts.push(account);
  }
  return accounts;
}

/** Connections that have selected INBOX and idle. */
export async function openIdlers(
  listener: ListenerAddress,
  accounts: readonly Account[],
  connections: number,
): Promise<ImapClient[]> {
  const clients: ImapClient[] = [];
  for (let at = 0; at < connections; at += OPENING_AT_ONCE)
    clients.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(OPENING_AT_ONCE, connections - at) }, async (_, i) => {
          const account = accounts[Math.floor((at + i) / PER_MAILBOX)];
          if (account === undefined) throw new Error('too few mailboxes');
          const client = await ImapClient.loggedIn(listener, account);
          await client.command('SELECT INBOX');
          await client.idle();
          return client;
        }),
      )),
    );
  return clients;
}
