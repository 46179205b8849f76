import { ImapClient } from './imap-client.ts';
import { largeMessage } from './messages.ts';
import { readerMailbox } from './reader-mailbox.ts';
import { figure, repeated, spread } from './samples.ts';
import type { MailScenario } from './scenario.ts';

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
