/**
 * Keeps namespace, search attributes and Schedules in Temporal. Checked every 15 s, because Temporal may lose its state
 * (an emptied or restored database) while the workers run; without the Schedule no partitions would be made or dropped,
 * without the search attributes no workflow would start.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { namespaceIdOf, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { completeTemporal } from '#core/platform/engine/temporal-setup.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import type { Services } from '#core/platform/process/services.ts';
import { keepSchedules, restoreSchedules } from './schedules.ts';

const LOOK_EVERY_MS = 15_000;
const RETRY_MS = 2_000;
const ANSWER_WITHIN_MS = 5_000;

export interface KeptSetup {
  close(): Promise<void>;
}

/** Starts checking; never throws. If Temporal does not let us create something, this is logged once with what to do. */
export function keepTemporalSetup(
  { log }: Pick<Services, 'log'>,
  temporal: TemporalClient,
  {
    lookEveryMs = LOOK_EVERY_MS,
    onNamespaceMadeAnew,
  }: { readonly lookEveryMs?: number; onNamespaceMadeAnew?(namespaceId: string): Promise<void> } = {},
): KeptSetup {
  const outage = outageLog(log, 'Temporal');
  const closing = new AbortController();
  let refused = '';
  let defined = false;
  let namespaceId: string | undefined;

  async function look(): Promise<void> {
    const { client, namespace } = temporal;
    const made = await completeTemporal(client.connection, namespace);
    const found = await namespaceIdOf(client.connection, namespace);
    if (found !== undefined && namespaceId !== undefined && found !== namespaceId) await onNamespaceMadeAnew?.(found);
    namespaceId = found ?? namespaceId;
    const schedules = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      defined ? restoreSchedules(temporal) : keepSchedules(temporal),
    );
    made.push(...schedules.map((id) => `Schedule ${id}`));
    // At the first check it is a new installation; later Temporal has lost it.
    if (made.length > 0) log[defined ? 'warn' : 'info']({ made }, 'made what Temporal lacked');
    defined = true;
  }

  function failed(error: unknown): void {
    const reason = reasonOf(error);
    if (isGrpcServiceError(error) || isGrpcServiceError(error instanceof Error ? error.cause : undefined))
      return outage.failed(error);
    // One line for each reason, not for each check.
    if (reason !== refused) log.error({ reason }, 'Temporal cannot be set up; trying again');
    refused = reason;
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      let waitMs = lookEveryMs;
      try {
        await look();
        outage.recovered();
        refused = '';
      } catch (error) {
        if (closing.signal.aborted) return;
        failed(error);
        waitMs = Math.min(RETRY_MS, lookEveryMs);
      }
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  const running = loop();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}
