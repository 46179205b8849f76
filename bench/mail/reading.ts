/** What mail readers ask of one large mailbox, cold and warm: FETCH, SEARCH, SORT, SELECT, beside another server, by mbsync, by POP3. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { ImapClient } from './imap-client.ts';
import { largeMessage, mixedMessage, RARE_WORD } from './messages.ts';
import { figure, type MailScenario, repeated, spread, summaryOf } from './scenario.ts';
import type { Account, MailBenchWorld } from './world.ts';

interface ReaderMailbox extends Account {
  /** Of all messages together. */
  readonly bytes: number;
}

const made = new WeakMap<MailBenchWorld, ReaderMailbox>();

/** The mailbox whose INBOX contains the mix; scenarios of one run share it. */
async function readerMailbox(world: MailBenchWorld, messages: number): Promise<ReaderMailbox> {
  const known = made.get(world);
  if (known !== undefined) return known;
  const account = await world.makeMailbox('reader');
  const startedAt = performance.now();
  const bytes = await world.fill(account, messages, mixedMessage, 250);
  await world.settle();
  const seconds = (performance.now() - startedAt) / 1_000;
  world.say(`${messages} messages, ${(bytes / 1e6).toFixed(1)} MB, filed in ${seconds.toFixed(0)} s`);
  const mailbox = { ...account, bytes };
  made.set(world, mailbox);
  return mailbox;
}

const WARM_RUNS = 10;
const BODY_RUNS = 10;
const LARGE_MESSAGES = 5;
const LARGE_BYTES = 20_000_000;

const LISTINGS = [
  { items: '(UID FLAGS)', barMs: 150 },
  { items: '(ENVELOPE BODYSTRUCTURE)', barMs: 600 },
  { items: '(UID RFC822.SIZE FLAGS BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE)])', barMs: 50 },
];

export const fetch: MailScenario = {
  name: 'fetch',
  text: 'FETCH 1:* (UID FLAGS), (ENVELOPE BODYSTRUCTURE) and header lines, cold and warm',
  async run(world, { messages }) {
    const account = await readerMailbox(world, messages);
    const rows = [['', 'bar ms', 'cold ms', 'warm ms', 'MB']];
    for (const { items, barMs } of LISTINGS) {
      await world.restart();
      const client = await ImapClient.loggedIn(world.mail.imap, account);
      await client.command('SELECT INBOX');
      const command = `FETCH 1:* ${items}`;
      const cold = await client.command(command);
      const { text } = await client.command(command, { keep: true });
      const lines = text.match(/^\* \d+ FETCH \(/gm)?.length;
      if (lines !== messages) throw new Error(`${lines} of ${messages} messages were reported`);
      const warm = await world.watch(() => repeated(WARM_RUNS, async () => (await client.command(command)).ms));
      client.close();
      rows.push([command, `≤ ${barMs}`, figure(cold.ms), spread(warm), figure(cold.bytes / 1e6, 1)]);
    }
    return { title: `FETCH, ${figure(messages)} messages`, rows };
  },
};

export const body: MailScenario = {
  name: 'body',
  text: 'FETCH 1:* BODY.PEEK[] of the mix and of 20 MB messages',
  async run(world, { messages }) {
    const mixed = await readerMailbox(world, messages);
    const large = await world.makeMailbox('large');
    const largeBytes = await world.fill(large, LARGE_MESSAGES, (number) => largeMessage(number, LARGE_BYTES), 1);
    await world.settle();
    const rows = [['', 'bar MB/s', 'first MB/s', 'warm MB/s', 'CPU ms per MB: mail', 'PostgreSQL', 'client']];
    for (const { name, account, bytes } of [
      {
        name: `mix, ${figure(messages)} messages, ${figure(mixed.bytes / 1e6)} MB`,
        account: mixed,
        bytes: mixed.bytes,
      },
      { name: `${LARGE_MESSAGES} messages of 20 MB`, account: large, bytes: largeBytes },
    ]) {
      await world.restart();
      const client = await ImapClient.loggedIn(world.mail.imap, account);
      await client.command('SELECT INBOX');
      const megabytesPerSecond = async () => {
        const answer = await client.command('FETCH 1:* BODY.PEEK[]');
        if (answer.bytes < bytes) throw new Error(`${answer.bytes} of ${bytes} bytes came`);
        return answer.bytes / 1e3 / answer.ms;
      };
      const cold = await megabytesPerSecond();
      const { result: warm, cpu } = await world.cpuOf(() => world.watch(() => repeated(BODY_RUNS, megabytesPerSecond)));
      client.close();
      const perMegabyte = [cpu.mail, cpu.postgres, cpu.client].map((seconds) =>
        figure((seconds * 1e9) / (bytes * BODY_RUNS), 1),
      );
      rows.push([name, '≥ 100', figure(cold), spread(warm), ...perMegabyte]);
    }
    return { title: 'FETCH 1:* BODY.PEEK[]', rows };
  },
};

const COMMANDS = [
  `SEARCH TEXT ${RARE_WORD}`,
  'SEARCH TEXT xylophone',
  'SEARCH TEXT nopade',
  'SEARCH SUBJECT "no"',
  'SEARCH SUBJECT "nowhere at all"',
  'SORT (DATE) UTF-8 ALL',
  'SORT (REVERSE DATE) UTF-8 ALL',
  'SORT (SUBJECT) UTF-8 ALL',
  'THREAD REFERENCES UTF-8 ALL',
];

export const search: MailScenario = {
  name: 'search',
  text: 'SEARCH TEXT, SORT and THREAD, cold and warm',
  async run(world, { messages }) {
    const account = await readerMailbox(world, messages);
    const rows = [['', 'found', 'cold ms', 'warm ms']];
    for (const command of COMMANDS) {
      await world.restart();
      const client = await ImapClient.loggedIn(world.mail.imap, account);
      await client.command('SELECT INBOX');
      const cold = await client.command(command, { keep: true });
      const found = /^\* (?:SEARCH|SORT|THREAD)(.*)$/m.exec(cold.text)?.[1]?.match(/\d+/g)?.length ?? 0;
      const warm = await world.watch(() => repeated(WARM_RUNS, async () => (await client.command(command)).ms));
      client.close();
      rows.push([command, figure(found), figure(cold.ms), spread(warm)]);
    }
    return { title: `SEARCH and SORT, ${figure(messages)} messages, ${figure(account.bytes / 1e6)} MB`, rows };
  },
};

const COPIES = 10;
const RESYNC_RUNS = 10;

export const select: MailScenario = {
  name: 'select',
  text: 'SELECT, and SELECT with QRESYNC after 10 changes, of 10,000 and 100,000 messages',
  async run(world, { messages }) {
    const account = await readerMailbox(world, messages);
    const filler = await ImapClient.loggedIn(world.mail.imap, account);
    // Separate folders: the changes made here do not affect other scenarios.
    await filler.command('CREATE Ten');
    await filler.command('CREATE Hundred');
    await filler.command('SELECT INBOX');
    await filler.command('COPY 1:* Ten');
    const copy = await repeated(COPIES, async () => (await filler.command('COPY 1:* Hundred')).ms);
    filler.close();
    await world.settle();
    const rows = [['', 'cold ms', 'warm ms', 'QRESYNC ms']];
    for (const [folder, count] of [
      ['Ten', messages],
      ['Hundred', messages * COPIES],
    ] as const) {
      await world.restart();
      const client = await ImapClient.loggedIn(world.mail.imap, account);
      const cold = await client.command(`SELECT ${folder}`);
      if (!cold.text.includes(`* ${count} EXISTS`)) throw new Error(`${folder} has not ${count} messages`);
      const warm = await world.watch(() =>
        repeated(WARM_RUNS, async () => (await client.command(`SELECT ${folder}`)).ms),
      );
      client.close();
      rows.push([figure(count), figure(cold.ms, 1), spread(warm, 1), spread(await resync(folder), 1)]);
    }
    rows.push([`COPY 1:* of ${figure(messages)}`, '', spread(copy), '']);
    return { title: 'SELECT', rows };

    /** Another client marks nine messages and adds one; then the first reconnects. */
    async function resync(folder: string) {
      const [other, client] = await Promise.all([0, 1].map(() => ImapClient.loggedIn(world.mail.imap, account)));
      if (other === undefined || client === undefined) throw new Error('no clients');
      await client.command('ENABLE QRESYNC');
      await other.command(`SELECT ${folder}`);
      const times: number[] = [];
      for (let run = 0; run < RESYNC_RUNS; run++) {
        const { text } = await client.command(`SELECT ${folder}`);
        const [, validity] = /UIDVALIDITY (\d+)/.exec(text) ?? [];
        const [, modseq] = /HIGHESTMODSEQ (\d+)/.exec(text) ?? [];
        await client.command('UNSELECT');
        await other.command(`STORE ${run * 100 + 1}:${run * 100 + 9} +FLAGS.SILENT (\\Flagged)`);
        await other.command(`COPY ${run + 1} ${folder}`);
        const answer = await client.command(`SELECT ${folder} (QRESYNC (${validity} ${modseq}))`, { keep: true });
        const reported = answer.text.match(/^\* \d+ FETCH/gm)?.length;
        if (reported !== 10) throw new Error(`${reported} of 10 changes were reported`);
        times.push(answer.ms);
      }
      other.close();
      client.close();
      return summaryOf(times);
    }
  },
};

const PER_APPEND = 100;
const BODY = 'FETCH 1:* BODY.PEEK[]';
const BESIDE_COMMANDS = [
  'FETCH 1:* (UID RFC822.SIZE FLAGS BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE)])',
  'SEARCH SUBJECT "nowhere at all"',
  'SORT (REVERSE DATE) UTF-8 ALL',
  'FETCH 1:* (ENVELOPE BODYSTRUCTURE)',
  'FETCH 1:* (UID FLAGS)',
  BODY,
];

/** @param url imaps://user:password@host:port of another server; its INBOX is filled with the mix if it is empty */
export const beside = (url: URL): MailScenario => ({
  name: 'beside',
  text: 'lists, searches and bodies, in turn with another server',
  async run(world, { messages }) {
    const account = await readerMailbox(world, messages);
    const own = await ImapClient.loggedIn(world.mail.imap, account);
    const other = await ImapClient.loggedIn(
      { host: url.hostname, port: Number(url.port || 993) },
      { address: decodeURIComponent(url.username), token: decodeURIComponent(url.password) },
    );
    const count = async (client: ImapClient) =>
      Number(/\* (\d+) EXISTS/.exec((await client.command('SELECT INBOX', { keep: true })).text)?.[1] ?? 0);
    if ((await count(other)) === 0) {
      for (let at = 0; at < messages; at += PER_APPEND) {
        const literals = Array.from({ length: Math.min(PER_APPEND, messages - at) }, (_, i) => mixedMessage(at + i));
        await other.command('APPEND INBOX', { literals });
      }
    }
    const servers = [
      { client: own, total: await count(own) },
      { client: other, total: await count(other) },
    ];
    const rows = [['', 'first', 'warm', 'the other: first', 'warm']];
    for (const command of BESIDE_COMMANDS) {
      const cells = servers.map(() => ({ first: '', warm: [] as number[] }));
      for (let run = 0; run <= WARM_RUNS; run++)
        for (const [i, { client, total }] of servers.entries()) {
          const { ms, bytes } = await client.command(command);
          const value = command === BODY ? bytes / 1e3 / ms : (ms * 1e3) / total;
          if (run === 0 && cells[i]) cells[i].first = figure(value, 1);
          else cells[i]?.warm.push(value);
        }
      const unit = command === BODY ? 'MB/s' : 'µs a message';
      rows.push([`${command}, ${unit}`, ...cells.flatMap(({ first, warm }) => [first, spread(summaryOf(warm), 1)])]);
    }
    own.close();
    other.close();
    return { title: `beside ${url.host}, ${servers.map(({ total }) => figure(total)).join(' and ')} messages`, rows };
  },
});

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

const MESSAGES = 2_000;
const RUNS = 5;

/** Reads every message of the maildrop over TLS. @returns seconds from the first RETR to the end of the last answer */
async function retrieveAll({ host, port }: ListenerAddress, account: Account, pipelined: boolean): Promise<number> {
  const socket = tls.connect({ host, port, rejectUnauthorized: false });
  socket.setNoDelay(true);
  await once(socket, 'secureConnect');
  let [tail, lines, ended] = ['', 0, 0];
  let check: (() => void) | undefined;
  socket.on('data', (chunk: Buffer) => {
    // Ends of messages may lie across chunks; no line of the mix is a lone dot.
    const text = tail + chunk.toString('latin1');
    ended += text.split('\r\n.\r\n').length - 1;
    tail = text.endsWith('\r\n.\r\n') ? '' : text.slice(-4);
    lines++;
    check?.();
  });
  const until = (reached: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      socket.once('close', () => reject(new Error('the connection was lost')));
      check = () => reached() && resolve();
      check();
    });
  const command = async (line: string) => {
    const before = lines;
    socket.write(`${line}\r\n`);
    await until(() => lines > before);
  };
  await until(() => lines > 0);
  await command(`USER ${account.address}`);
  await command(`PASS ${account.token}`);
  ended = 0;
  const startedAt = performance.now();
  if (pipelined) {
    socket.write(Array.from({ length: MESSAGES }, (_, i) => `RETR ${i + 1}\r\n`).join(''));
    await until(() => ended >= MESSAGES);
  } else
    for (let i = 1; i <= MESSAGES; i++) {
      socket.write(`RETR ${i}\r\n`);
      await until(() => ended >= i);
      socket.removeAllListeners('close');
    }
  const seconds = (performance.now() - startedAt) / 1_000;
  socket.removeAllListeners('close').end('QUIT\r\n');
  return seconds;
}

export const pop3: MailScenario = {
  name: 'pop3',
  text: 'RETR of 2,000 messages of the mix, one after another and pipelined',
  async run(world) {
    const account = await world.makeMailbox('pop3');
    const bytes = await world.fill(account, MESSAGES, mixedMessage, 250);
    await world.settle();
    const rows = [['', 'RETR/s', 'MB/s']];
    for (const [name, pipelined] of [
      ['one after another', false],
      ['pipelined', true],
    ] as const) {
      const perSecond = await repeated(
        RUNS,
        async () => MESSAGES / (await retrieveAll(world.mail.pop3, account, pipelined)),
      );
      rows.push([name, spread(perSecond), figure((perSecond.median * bytes) / MESSAGES / 1e6, 1)]);
    }
    return { title: 'POP3 RETR, one connection', rows };
  },
};
