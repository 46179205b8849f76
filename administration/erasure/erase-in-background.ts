/** Erasures that go on in a workflow: their rows show how far they are. */
import { callAfterCommit, startOptions } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { ERASE_CONTENT, erasureWorkflowId } from '#domain/erasure-workflow.ts';
import { beginErasure, type ErasureRow, type Target } from './erase.ts';

/**
 * Begins an erasure, or goes on with one that has not ended. The engine may be away: asked for again, it starts.
 *
 * @throws {CatalogueError} not_found; conflict, if something of it is on legal hold
 */
export async function eraseInBackground(
  services: Services,
  temporal: TemporalClient,
  target: Target,
): Promise<ErasureRow> {
  const row = await beginErasure(services.db, target, new Date(services.now()), { despiteHolds: false });
  if (row.receipt === null)
    await callAfterCommit(
      services,
      temporal,
      () =>
        temporal.client.workflow.start(ERASE_CONTENT, {
          ...startOptions(temporal, erasureWorkflowId(row.id), `erase a ${row.kind}`, {
            organizationId: row.subject.organizationId,
            mailboxId: row.subject.mailboxId,
          }),
          args: [row.id],
        }),
      { erasureId: row.id },
      'an erasure was not started; it starts when it is asked for again',
    );
  return row;
}
