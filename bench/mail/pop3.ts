import { once } from 'node:events';
import tls from 'node:tls';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { mixedMessage } from './messages.ts';
import { figure, type MailScenario, repeated, spread } from './scenario.ts';
import type { Account } from './world.ts';

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
