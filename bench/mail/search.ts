import { ImapClient } from './imap-client.ts';
import { RARE_WORD } from './messages.ts';
import { readerMailbox } from './reader-mailbox.ts';
import { figure, repeated, spread } from './samples.ts';
import type { MailScenario } from './scenario.ts';

const WARM_RUNS = 10;

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
