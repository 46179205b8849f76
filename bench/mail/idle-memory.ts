import { setTimeout as delay } from 'node:timers/promises';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { idlerMailboxes, openIdlers } from './idlers.ts';
import { figure } from './samples.ts';
import type { MailScenario } from './scenario.ts';
import type { Account } from './world.ts';

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
