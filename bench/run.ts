/**
 * `npm run bench -- <scenario> [options]`: measures the delivery of webhooks. Method and figures: `bench/README.md`.
 *
 * Each run starts new instances of PostgreSQL, Temporal, the sink and the service in a temporary folder, and removes
 * them.
 */

import { parseArgs } from 'node:util';
import { closeOnSignal } from './child-calls.ts';
import { machineLine } from './machine.ts';
import { measuredTable } from './measure.ts';
import { profiler } from './profile.ts';
import { SOURCES, sourceNamed } from './scenario.ts';
import { backlog } from './scenarios/backlog.ts';
import { crash } from './scenarios/crash.ts';
import { drain, idle, tenants } from './scenarios/drain.ts';
import { engine } from './scenarios/engine.ts';
import { fairness } from './scenarios/fairness.ts';
import { faults } from './scenarios/faults.ts';
import { requests } from './scenarios/requests.ts';
import { openWorld } from './world.ts';

const SCENARIOS = [idle, drain, tenants, fairness, faults, crash, engine, backlog, requests];

const say = (text: string) => process.stderr.write(`${text}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string' },
    events: { type: 'string' },
    endpoints: { type: 'string' },
    producers: { type: 'string' },
    repeat: { type: 'string' },
    profile: { type: 'string' },
    server: { type: 'string', default: 'embedded' },
    filled: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const usage = `Usage: npm run bench -- <scenario> [options]

Scenarios
${SCENARIOS.map(({ name, text }) => `  ${name.padEnd(10)} ${text}`).join('\n')}

Options
  --source <name>   by what events come about
${SOURCES.map(({ name, text }) => `                      ${name.padEnd(6)} ${text}`).join('\n')}
  --events <n>      events of a run
  --endpoints <n>   endpoints of an organization (tenants, fairness, faults: organizations with one endpoint each)
  --producers <n>   how many make events at the same time
  --repeat <n>      runs of the same load; the table shows least, median and most
  --profile <file>  profile of the service during the runs for a browser's tools (.cpuprofile), and what took the time
  --server <name>   embedded, or distribution: that of the operating system, as its initdb configures it
  --filled <n>      finished deliveries of another organization in the tables, in steps of 10,000
  --json            figures as JSON on standard output`;

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} takes a whole number from 1, not "${text}"`);
  return number;
}

const scenario = SCENARIOS.find(({ name }) => name === positionals[0]);
if (scenario === undefined) {
  say(usage);
  process.exit(2);
}
const options = {
  source: sourceNamed(values.source),
  events: wholeNumber('events', values.events),
  endpoints: wholeNumber('endpoints', values.endpoints),
  producers: wholeNumber('producers', values.producers),
  repeat: wholeNumber('repeat', values.repeat),
};

const { server } = values;
if (server !== 'embedded' && server !== 'distribution') throw new Error('--server takes embedded or distribution');
if (server === 'distribution' && values.profile !== undefined)
  throw new Error('--profile restarts the server with further settings: use the embedded one');

const world = await openWorld(say, {
  statementStatistics: values.profile !== undefined,
  server,
  filled: wholeNumber('filled', values.filled) ?? 0,
});
const close = closeOnSignal(world);
try {
  const machine = await machineLine(world);
  const profile = values.profile === undefined ? undefined : profiler(world, values.profile);
  const measured = await scenario.run({ world, options, watch: profile?.watch ?? ((work) => work()) });
  if (values.json) console.log(JSON.stringify({ scenario: scenario.name, machine, measured }, null, 2));
  else {
    for (const each of measured)
      console.log(`\n${measuredTable({ ...each, title: `${scenario.name}: ${each.title}` })}`);
    console.log(`\n${machine}`);
  }
  if (profile !== undefined) say(await profile.report());
} finally {
  await close();
}
