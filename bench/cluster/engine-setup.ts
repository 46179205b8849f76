import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/search-attributes.ts';
import type { TemporalServer } from './temporal-server.ts';

const ANSWER_WITHIN_MS = 3_000;

/** What the service must still create in an empty namespace. */
export async function missingInEngine({ address, namespace }: TemporalServer): Promise<string[]> {
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_WITHIN_MS });
  try {
    return await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, async () => {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      const { schedules } = await connection.workflowService.listSchedules({ namespace });
      return [
        ...Object.keys(SEARCH_ATTRIBUTES).filter((name) => customAttributes[name] === undefined),
        ...((schedules ?? []).length === 0 ? ['Schedule of the retention'] : []),
      ];
    });
  } finally {
    await connection.close();
  }
}
