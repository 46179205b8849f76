/** Whether a fast lane of any worker makes first attempts, so that workflows need only carry the deliveries. */

import type { Sql } from '#db/database.ts';
import { lanesAreAlive } from '#db/queries/deliveries/lane-life.ts';

export interface LaneWatch {
  /** As of the last second. */
  readonly alive: boolean;
  close(): void;
}

const LOOK_MS = 1_000;

/** @param onDeath called when no lane shows signs of life any more */
export function laneWatch(sql: Sql, onDeath: () => void): LaneWatch {
  let alive = false;
  let asking = false;

  async function look(): Promise<void> {
    if (asking) return;
    asking = true;
    try {
      const before = alive;
      alive = await lanesAreAlive(sql);
      if (before && !alive) onDeath();
    } catch {
      // The claims meet the same outage and report it.
    } finally {
      asking = false;
    }
  }

  const timer = setInterval(() => void look(), LOOK_MS);
  void look();
  return {
    get alive() {
      return alive;
    },
    close: () => clearInterval(timer),
  };
}

/** Of a process whose setting says that workflows make all attempts. */
export const NO_LANES: LaneWatch = { alive: false, close: () => {} };
