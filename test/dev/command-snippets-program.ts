/**
 * Runs commands one after another in one process, for the test of the snippets. Standard input: JSON, a list of
 * `[name, words]`. Before each command it asks `/begin/<name>` of the service.
 */
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { commandLine } from '#cli/program.ts';

const COMMAND_MAX_MS = 60_000;

/** A command that waits for something fails its own name, not the whole test. */
async function tooLong(name: string): Promise<never> {
  await setTimeout(COMMAND_MAX_MS, undefined, { ref: false });
  throw new Error(`${name} did not end`);
}

const commands = JSON.parse(await text(process.stdin)) as readonly (readonly [
  name: string,
  words: readonly string[],
])[];
for (const [name, words] of commands) {
  await fetch(`${process.env['AGENT_MAILBOX_URL']}/begin/${name}`);
  try {
    // A new tree: commander keeps the options of an earlier run.
    await Promise.race([(await commandLine(words)).parseAsync([...words], { from: 'user' }), tooLong(name)]);
  } catch (error) {
    process.stderr.write(`${name}: ${words.join(' ')}: ${String(error)}\n`);
  }
}
process.exit(0);
