import { ImapClient } from './imap-client.ts';
import { readerMailbox } from './reader-mailbox.ts';
import { figure, repeated, spread, summaryOf } from './samples.ts';
import type { MailScenario } from './scenario.ts';

const WARM_RUNS = 10;
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
