import { smtpLoad } from '#bench/smtp-load.ts';
import { idlerMailboxes, openIdlers } from './idlers.ts';
import { figure, summaryOf } from './samples.ts';
import type { MailScenario } from './scenario.ts';
import type { Account, CpuSeconds } from './world.ts';

const IDLERS = [0, 1_000];
const MAILBOXES = 20;
const MESSAGES = 5_000;
const MESSAGE_BYTES = 5_000;
const RUNS = 3;

export const ingestIdle: MailScenario = {
  name: 'ingest',
  text: 'messages per second by SMTP into 20 mailboxes, with no and with 1,000 idle connections, 20 of them on each of these mailboxes',
  async run(world) {
    const accounts = await idlerMailboxes(world, Math.max(...IDLERS));
    const receiving: Account[] = accounts.slice(0, MAILBOXES);
    const rows = [['idle connections', 'messages/s', 'p50 ms', 'p99 ms', 'CPU ms, mail', 'PostgreSQL', 'client']];
    for (const idlers of IDLERS) {
      const open = await openIdlers(world.mail.imap, accounts, idlers);
      for (let run = 0; run < RUNS; run++) {
        const { result, cpu } = await world.cpuOf(() =>
          world.watch(() =>
            smtpLoad({
              ...world.mail.smtp,
              connections: 20,
              messages: MESSAGES,
              recipients: receiving.map(({ address }) => address),
              messageBytes: MESSAGE_BYTES,
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
