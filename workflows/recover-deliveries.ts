/**
 * Sends the given-up deliveries of an endpoint again, at a bounded rate, until nothing is left or it is ended.
 *
 *   activity: some seconds of sending ──▶ completed, cancelled, stopped: done
 *        ▲             └ paused: wait until `lookAgain`
 *        └── running ──┘
 *
 * The row is the truth, also about pause, cancel and progress; `lookAgain` only ends the wait of a paused one. Only the
 * row's id is passed on, so a new run continues where the previous one ended.
 */
import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { HEARTBEAT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import type { RecoveryInput, RecoveryProgress } from '#domain/webhooks/recovery.ts';
import { recoverySummary } from './readable.ts';
import { lookAgain, recoveryProgress } from './signals.ts';

const { recoverSome } = proxyActivities<Pick<Activities, 'recoverSome'>>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 100 },
});

/** Heals a lost signal to a paused one. */
const LOOK_BY_ITSELF = '1 hour';

export async function recoverDeliveries(input: RecoveryInput): Promise<RecoveryProgress> {
  let progress: RecoveryProgress | undefined;
  let signals = 0;
  setHandler(lookAgain, () => {
    signals++;
  });
  setHandler(recoveryProgress, () => progress ?? null);

  for (;;) {
    const seen = signals;
    progress = await recoverSome.executeWithOptions({ summary: recoverySummary(progress) }, [input]);
    if (progress.state !== 'running' && progress.state !== 'paused') return progress;
    if (progress.state === 'paused')
      await condition(() => signals > seen, LOOK_BY_ITSELF, { summary: 'paused until somebody resumes or cancels' });
    // A signal received meanwhile is not passed on and need not be: the new run reads the row at once.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof recoverDeliveries>(input);
  }
}
