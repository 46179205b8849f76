import { type RetentionServices, retentionStep, type StepContext } from '#activities/delete-history.ts';
import { RETENTION_STEPS } from '#domain/retention.ts';

/** All steps of retention to their end, as the workflow runs them. */
export async function deleteHistory(services: RetentionServices): Promise<void> {
  const context: StepContext = { heartbeat() {}, isEnding: () => false };
  for (const step of RETENTION_STEPS)
    for (let [more, after] = [true, '']; more; ) {
      const output = await retentionStep(services, { step, after }, context);
      [more, after] = [output.more, output.after ?? ''];
    }
}
