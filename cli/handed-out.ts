/** Messages that `mail wait` showed in the last minutes, so that the next one does not show them again. */
import { type HandedOut, RECENT_SECONDS } from '#client/index.ts';
import { handedOutFile, readJson, writePrivate } from './configuration.ts';
import type { Session } from './session.ts';

/** A message stays known for longer than it counts as recent, because the clocks of two machines differ. */
const KEPT_MS = 10 * RECENT_SECONDS * 1_000;

interface State {
  /** Time at which each was shown, in milliseconds. */
  readonly shown: Readonly<Record<string, number>>;
}

function readState(file: string): State['shown'] {
  const value = readJson(file);
  if (typeof value !== 'object' || value === null || !('shown' in value)) return {};
  const { shown } = value;
  return typeof shown === 'object' && shown !== null ? Object.fromEntries(Object.entries(shown)) : {};
}

/** Written when a message is added. */
export function handedOutOf({ profile }: Session): HandedOut {
  const file = handedOutFile(profile);
  const now = Date.now();
  const shown = new Map(Object.entries(readState(file)).filter(([, at]) => now - at < KEPT_MS));
  return {
    has: (messageId) => shown.has(messageId),
    add(messageId) {
      shown.set(messageId, now);
      const state: State = { shown: Object.fromEntries(shown) };
      writePrivate(file, state);
    },
  };
}
