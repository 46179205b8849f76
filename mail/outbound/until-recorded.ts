/** Writes that must not get lost, because the other side has done its part already. */
import { isDatabaseAway } from '../../db/database-away.ts';
import { OUTBOUND_KEEP_OUTCOME_MS } from '../../domain/outbound.ts';

const WRITE_AGAIN_MS = 500;
/** SQLSTATEs: two transactions met; either may be repeated. */
const MET_ANOTHER = new Set(['40001', '40P01']);

/** Repeats a write, which must do no harm when it is done twice, while the database is away; at most five minutes. */
export async function untilRecorded<Result>(write: () => Promise<Result>): Promise<Result> {
  const giveUpAtMs = performance.now() + OUTBOUND_KEEP_OUTCOME_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const passing = isDatabaseAway(error) || MET_ANOTHER.has(String(Reflect.get(Object(error), 'code')));
      if (!passing || performance.now() > giveUpAtMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, WRITE_AGAIN_MS));
    }
  }
}
