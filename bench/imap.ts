/**
 * `npm run bench:imap [-- scenario…]`: response times of mail clients. Method and figures: `bench/README.md`.
 *
 * Options: `--messages <n>` in the folder that is read (10,000), `--profile <file>` for a browser's tools (.cpuprofile)
 * of the mail process while it does the warm runs of a row; a summary is printed. `--beside imaps://user:password@host:port`
 * compares with another server, command by command in turn.
 */

import { parseArgs } from 'node:util';
import { closeOnSignal } from './child-calls.ts';
import { machineAndDatabase } from './machine.ts';
import { idleMemory, ingestIdle, push } from './mail/idle-clients.ts';
import { beside, body, fetch, mbsync, pop3, search, select } from './mail/reading.ts';
import { openMailBenchWorld } from './mail/world.ts';
import { textTable } from './measure.ts';

const ALL_SCENARIOS = [fetch, body, select, search, push, ingestIdle, idleMemory, pop3, mbsync];

const say = (text: string) => process.stderr.write(`${text}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    messages: { type: 'string', default: '10000' },
    profile: { type: 'string' },
    beside: { type: 'string' },
  },
});
const messages = Number(values.messages);
const other = values.beside === undefined ? null : URL.parse(values.beside);
const SCENARIOS = other === null ? ALL_SCENARIOS : [beside(other)];
const chosen = positionals.map((name) => SCENARIOS.find((scenario) => scenario.name === name));
if (
  chosen.includes(undefined) ||
  !Number.isInteger(messages) ||
  messages < 1_000 ||
  (values.beside !== undefined && other?.protocol !== 'imaps:')
) {
  say(`Usage: npm run bench:imap [-- scenario…] [--messages <n from 1,000>] [--profile <file>] [--beside imaps://user:password@host:port]

${SCENARIOS.map(({ name, text }) => `  ${name.padEnd(8)} ${text}`).join('\n')}`);
  process.exit(2);
}

const world = await openMailBenchWorld(say, values.profile);
const close = closeOnSignal(world);
try {
  const machine = (await machineAndDatabase(world.db)).join('; ');
  for (const scenario of chosen.length === 0 ? SCENARIOS : SCENARIOS.filter((each) => chosen.includes(each))) {
    const { result, ratio } = await world.othersRatio(() => scenario.run(world, { messages }));
    console.log(`\n${result.title}; machine used by others ${(ratio * 100).toFixed(0)} %\n${textTable(result.rows)}`);
  }
  console.log(`\n${machine}`);
} finally {
  await close();
}
