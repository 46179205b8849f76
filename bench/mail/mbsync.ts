import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { readerMailbox } from './reading.ts';
import { figure, type MailScenario } from './scenario.ts';

const run = promisify(execFile);
const LATER_RUNS = 5;

export const mbsync: MailScenario = {
  name: 'mbsync',
  text: 'mbsync (isync): the first synchronization of the folder, and runs in which nothing has changed',
  async run(world, { messages }) {
    const account = await readerMailbox(world, messages);
    await world.restart();
    const root = path.join(world.folder, 'mbsync');
    mkdirSync(root);
    const config = path.join(root, 'mbsyncrc');
    writeFileSync(
      config,
      `IMAPAccount agent
Host localhost
Port ${world.mail.imap.port}
User ${account.address}
Pass ${account.token}
SSLType IMAPS
CertificateFile ${world.caFile}
SystemCertificates no

IMAPStore far
Account agent

MaildirStore near
Path ${root}/mail/
Inbox ${root}/mail/INBOX

Channel inbox
Far :far:INBOX
Near :near:INBOX
Create Near
SyncState ${root}/state-
`,
    );
    mkdirSync(path.join(root, 'mail'));
    const seconds = async (): Promise<number> => {
      const startedAt = performance.now();
      await run('mbsync', ['-c', config, 'inbox']);
      return (performance.now() - startedAt) / 1_000;
    };
    const { result: first, cpu } = await world.cpuOf(seconds);
    const kept = ['new', 'cur'].flatMap((each) => readdirSync(path.join(root, 'mail/INBOX', each))).length;
    if (kept !== messages) throw new Error(`mbsync has ${kept} of ${messages} messages`);
    const later: number[] = [];
    for (let i = 0; i < LATER_RUNS; i++) later.push(await seconds());
    const rows = [
      ['', 's', 'messages/s', 'CPU s of mail process', 'of PostgreSQL'],
      ['first run', figure(first, 1), figure(messages / first), figure(cpu.mail, 1), figure(cpu.postgres, 1)],
      ['later run, nothing new', figure(later.toSorted((a, b) => a - b)[LATER_RUNS >> 1] ?? 0, 2), '', '', ''],
    ];
    return { title: `mbsync, ${figure(messages)} messages`, rows };
  },
};
