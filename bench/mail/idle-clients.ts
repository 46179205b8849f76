/** Thousands of IMAP clients that idle: their memory, ingest beside them, and how soon they are notified. */

import { setTimeout as delay } from 'node:timers/promises';
import { smtpLoad } from '#bench/smtp-load.ts';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { ImapClient } from './imap-client.ts';
import { mixedMessage } from './messages.ts';
import { figure, type MailScenario, summaryOf } from './scenario.ts';
import type { Account, CpuSeconds, MailBenchWorld, MailProcess } from './world.ts';

/** As many connections as one mailbox may have. */
const PER_MAILBOX = 20;
const IDLER_MESSAGES = 10;
const OPENING_AT_ONCE = 10;

let made = 0;

/** Mailboxes with a few messages, enough for so many connections. */
async function idlerMailboxes(world: MailBenchWorld, connections: number): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let i = 0; i < Math.ceil(connections / PER_MAILBOX); i++) {
    const account = await world.makeMailbox(`idler-${++made}`);
    await world.fill(account, IDLER_MESSAGES, mixedMessage, IDLER_MESSAGES);
    accounts.push(account);
  }
  return accounts;
}

/** Connections that have selected INBOX and idle. */
async function openIdlers(
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

const CONNECTIONS = 1_000;
const WARM_UP_CONNECTIONS = 100;
const SETTLE_MS = 3_000;

interface Measured {
  readonly rss: number;
  readonly heapUsed: number;
}

/** Bytes by which a process grew per connection, everything used once before. */
async function growth(listener: ListenerAddress, accounts: readonly Account[], memory: () => Promise<Measured>) {
  const settled = async () => {
    await delay(SETTLE_MS);
    return memory();
  };
  for (const client of await openIdlers(listener, accounts, WARM_UP_CONNECTIONS)) client.close();
  const before = await settled();
  const clients = await openIdlers(listener, accounts, CONNECTIONS);
  const after = await settled();
  for (const client of clients) client.close();
  return {
    rss: (after.rss - before.rss) / CONNECTIONS,
    heap: (after.heapUsed - before.heapUsed) / CONNECTIONS,
    total: after.rss,
  };
}

export const idleMemory: MailScenario = {
  name: 'memory',
  text: 'memory per idle connection, beside a bare TLS server with the same sockets',
  async run(world) {
    const accounts = await idlerMailboxes(world, CONNECTIONS);
    const bare = await world.startBareTls();
    const bareGrowth = await growth(await bare.call('address', undefined), accounts, () =>
      bare.call('memory', undefined),
    );
    await bare.stop();
    const process = await world.startMail();
    const mailGrowth = await growth(process.imap, accounts, () => process.child.call('memory', undefined));
    await process.child.stop();
    const kilobytes = (bytes: number) => figure(bytes / 1024, 1);
    const row = (
      name: string,
      bar: string,
      { rss, heap, total }: Omit<typeof mailGrowth, 'total'> & { total?: number },
    ) => [name, bar, kilobytes(rss), kilobytes(heap), total === undefined ? '' : figure(total / 2 ** 20)];
    return {
      title: `Memory of ${figure(CONNECTIONS)} idle connections`,
      rows: [
        ['', 'bar KB each', 'KB each', 'of it JavaScript heap', 'process, MB'],
        row('bare TLS server', '', bareGrowth),
        row('mail process', '', mailGrowth),
        row('what the product adds', '≤ 40', {
          rss: mailGrowth.rss - bareGrowth.rss,
          heap: mailGrowth.heap - bareGrowth.heap,
        }),
      ],
    };
  },
};

const INGEST_IDLERS = [0, 1_000];
const MAILBOXES = 20;
const MESSAGES = 5_000;
const INGEST_BYTES = 5_000;
const RUNS = 3;

export const ingestIdle: MailScenario = {
  name: 'ingest',
  text: 'messages per second by SMTP into 20 mailboxes, with no and with 1,000 idle connections, 20 of them on each of these mailboxes',
  async run(world) {
    const accounts = await idlerMailboxes(world, Math.max(...INGEST_IDLERS));
    const receiving: Account[] = accounts.slice(0, MAILBOXES);
    const rows = [['idle connections', 'messages/s', 'p50 ms', 'p99 ms', 'CPU ms, mail', 'PostgreSQL', 'client']];
    for (const idlers of INGEST_IDLERS) {
      const open = await openIdlers(world.mail.imap, accounts, idlers);
      for (let run = 0; run < RUNS; run++) {
        const { result, cpu } = await world.cpuOf(() =>
          world.watch(() =>
            smtpLoad({
              ...world.mail.smtp,
              connections: 20,
              messages: MESSAGES,
              recipients: receiving.map(({ address }) => address),
              messageBytes: INGEST_BYTES,
            }),
          ),
        );
        const { perSecond, latenciesMs, refused } = result;
        if (refused.size > 0) throw new Error(`refused: ${JSON.stringify([...refused])}`);
        const { median, p99 } = summaryOf(latenciesMs);
        const each = ({ mail, postgres, client }: CpuSeconds) =>
          [mail, postgres, client].map((seconds) => figure((seconds * 1_000) / MESSAGES, 2));
        rows.push([figure(idlers), figure(perSecond), figure(median, 1), figure(p99, 1), ...each(cpu)]);
      }
      for (const client of open) client.close();
    }
    return { title: `Ingest of 5 KB while clients idle, 20 SMTP connections, ${figure(MESSAGES)} messages`, rows };
  },
};

const SAMPLES = 200;
const PAUSE_MS = 20;
const PUSH_IDLERS = [1, 100, 1_000];
const PUSH_BYTES = 2_000;

/** Milliseconds from the 250 of the inbound listener to `* n EXISTS`, one mail after another. */
async function latencies(world: MailBenchWorld, watching: MailProcess, account: Account): Promise<number[]> {
  const watcher = await ImapClient.loggedIn(watching.imap, account);
  const { text } = await watcher.command('SELECT INBOX');
  let expected = Number(/\* (\d+) EXISTS/.exec(text)?.[1]);
  let reported = Promise.withResolvers<number>();
  await watcher.idle((total) => {
    if (total >= expected) reported.resolve(performance.now());
  });
  const values: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    expected++;
    reported = Promise.withResolvers<number>();
    let acceptedAt = Number.NaN;
    await smtpLoad({
      ...world.mail.smtp,
      connections: 1,
      messages: 1,
      recipients: [account.address],
      messageBytes: PUSH_BYTES,
      onAccepted: () => {
        acceptedAt = performance.now();
      },
    });
    values.push((await reported.promise) - acceptedAt);
    await delay(PAUSE_MS);
  }
  watcher.close();
  return values;
}

export const push: MailScenario = {
  name: 'push',
  text: 'from the 250 of SMTP to * n EXISTS in IDLE, with 1, 100 and 1,000 idle connections',
  async run(world) {
    const accounts = await idlerMailboxes(world, Math.max(...PUSH_IDLERS));
    const watched = await world.makeMailbox('watched');
    await world.fill(watched, 10, () => Buffer.from('Subject: first\r\n\r\nHello\r\n'), 10);
    const another = await world.startMail();
    const rows = [['idle connections, watcher', 'bar p50, p99 ms', 'p50 ms', 'p99 ms', 'most ms']];
    for (const idlers of PUSH_IDLERS) {
      const open = await openIdlers(world.mail.imap, accounts, idlers - 1);
      for (const [where, watching] of [
        ['the same process', world.mail],
        ['another process', another],
      ] as const) {
        const { median, p99, most } = summaryOf(await latencies(world, watching, watched));
        rows.push([
          `${figure(idlers)}, ${where}`,
          '≤ 20, ≤ 100',
          ...[median, p99, most].map((value) => figure(value, 1)),
        ]);
      }
      for (const client of open) client.close();
    }
    await another.child.stop();
    return { title: `SMTP 250 → * n EXISTS, ${SAMPLES} mails each`, rows };
  },
};
