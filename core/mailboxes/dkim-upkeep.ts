/** Rotations of DKIM keys go on by themselves: one process of an installation looks at DNS and the clock every minute. */
import type { Services } from '#core/platform/process/services.ts';
import { type SharedTurns, startSharedTurns } from '#core/platform/process/shared-turns.ts';
import { continueDkimRotations } from './dkim-rotation.ts';

const EVERY_MS = 60_000;

export const startDkimUpkeep = (services: Services): SharedTurns =>
  startSharedTurns(services, {
    name: 'DKIM keys',
    everyMs: EVERY_MS,
    async work() {
      await continueDkimRotations(services, { inTurn: true });
    },
  });
