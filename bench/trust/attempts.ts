/**
 * `npm run bench:trust -- attempts`: how many attempts to carry a mail away are held or refused, by what they carry alone.
 * The format of the attempts is in `attempts/README.md`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ArrivingMail, SentMail, TrustWorld } from './trust-world.ts';

interface Attempt {
  readonly name: string;
  readonly kind: string;
  readonly paraphrase: boolean;
  readonly secret: ArrivingMail;
  readonly attempt: SentMail;
}

const FOLDER = fileURLToPath(new URL('attempts/', import.meta.url));

export interface AttemptsResult {
  readonly tried: number;
  readonly stopped: number;
  readonly paraphrases: number;
  readonly paraphrasesStopped: number;
}

/** Each in an organization of its own, so that none excuses another; half of them before the mail was read in the background. */
export async function tryAttempts(world: TrustWorld, say: (text: string) => void): Promise<AttemptsResult> {
  const attempts = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Attempt[]);
  const kinds = new Map<string, { tried: number; stopped: number }>();
  const counts = { tried: 0, stopped: 0, paraphrases: 0, paraphrasesStopped: 0 };
  for (const [i, { name, kind, paraphrase, secret, attempt }] of attempts.entries()) {
    const { mailbox } = await world.newOrganization({ outboundConsent: 'off', carriedMail: 'hold' });
    await world.receive(mailbox, secret);
    if (i % 2 === 1) await world.allRead();
    const outcome = await world.send(mailbox, attempt);
    const isStopped = outcome.startsWith('held:') || outcome === 'refused:content_refused';
    if (paraphrase) {
      counts.paraphrases++;
      if (isStopped) counts.paraphrasesStopped++;
      continue;
    }
    counts.tried++;
    if (isStopped) counts.stopped++;
    else say(`missed: ${name} (${kind}, ${attempt.protocol}): ${outcome}`);
    const ofKind = kinds.get(kind) ?? { tried: 0, stopped: 0 };
    kinds.set(kind, { tried: ofKind.tried + 1, stopped: ofKind.stopped + (isStopped ? 1 : 0) });
  }
  for (const [kind, { tried, stopped }] of kinds) say(`${kind}: ${stopped} of ${tried}`);
  say(`attempts held or refused: ${counts.stopped} of ${counts.tried}`);
  say(`told in other words, counted apart: ${counts.paraphrasesStopped} of ${counts.paraphrases} held`);
  return counts;
}
