import { setTimeout as delay } from 'node:timers/promises';
import { smtpLoad } from '#bench/smtp-load.ts';
import { idlerMailboxes, openIdlers } from './idlers.ts';
import { ImapClient } from './imap-client.ts';
import { figure, summaryOf } from './samples.ts';
import type { MailScenario } from './scenario.ts';
import type { Account, MailBenchWorld, MailProcess } from './world.ts';

const SAMPLES = 200;
const PAUSE_MS = 20;
const IDLERS = [1, 100, 1_000];
const MESSAGE_BYTES = 2_000;

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
      messageBytes: MESSAGE_BYTES,
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
    const accounts = await idlerMailboxes(world, Math.max(...IDLERS));
    const watched = await world.makeMailbox('watched');
    await world.fill(watched, 10, () => Buffer.from('Subject: first\r\n\r\nHello\r\n'), 10);
    const another = await world.startMail();
    const rows = [['idle connections, watcher', 'bar p50, p99 ms', 'p50 ms', 'p99 ms', 'most ms']];
    for (const idlers of IDLERS) {
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
