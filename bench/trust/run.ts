/**
 * `npm run bench:trust -- <what>`: how well the protection of outgoing mail works, and what it costs.
 *
 * - `attempts`: attempts to carry a mail away (`attempts/`) that are held or refused
 * - `agentdojo`: injected sends of AgentDojo's suite "workspace" that leave, with an agent that obeys
 * - `honest`: honest messages that are held needlessly
 * - `reading`: what it costs to note whose mail is read
 * - `costs` (default): time and space of the comparison; `--mails <n>`, `--checks <n>`
 */
import { replayAgentDojo } from './agentdojo.ts';
import { tryAttempts } from './attempts.ts';
import { sendHonestMail } from './honest.ts';
import { measureReading } from './reading.ts';
import { openTrustWorld, type TrustWorld } from './trust-world.ts';

const MEASURES: Readonly<Record<string, (world: TrustWorld, say: (text: string) => void) => Promise<unknown>>> = {
  attempts: tryAttempts,
  agentdojo: replayAgentDojo,
  honest: sendHonestMail,
  reading: measureReading,
};

const [what = 'costs'] = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('-') && /^[a-z]/.test(argument));
const measure = MEASURES[what];
if (what === 'costs') await import('./carried-mail.ts');
else if (measure === undefined) {
  console.error(`Unknown: ${what}. Choose ${Object.keys(MEASURES).join(', ')} or costs.`);
  process.exitCode = 1;
} else {
  const world = await openTrustWorld((text) => console.error(text));
  try {
    await measure(world, console.log);
  } finally {
    await world.close();
  }
}
