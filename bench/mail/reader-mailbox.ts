import { mixedMessage } from './messages.ts';
import type { Account, MailBenchWorld } from './world.ts';

interface ReaderMailbox extends Account {
  /** Of all messages together. */
  readonly bytes: number;
}

const made = new WeakMap<MailBenchWorld, ReaderMailbox>();

/** The mailbox whose INBOX contains the mix; scenarios of one run share it. */
export async function readerMailbox(world: MailBenchWorld, messages: number): Promise<ReaderMailbox> {
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
