import { ImapClient } from './imap-client.ts';
import { mixedMessage } from './messages.ts';
import { readerMailbox } from './reader-mailbox.ts';
import { figure, spread, summaryOf } from './samples.ts';
import type { MailScenario } from './scenario.ts';

const WARM_RUNS = 10;
const PER_APPEND = 100;
const BODY = 'FETCH 1:* BODY.PEEK[]';
const COMMANDS = [
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
    for (const command of COMMANDS) {
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
