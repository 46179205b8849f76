import { randomBytes } from 'node:crypto';
import { PART_KEY_BYTES } from '#administration/moving/move-parts.ts';
import { newId } from '#core/platform/new-id.ts';
import { type ExportFormat, moveKeyPlace } from '#domain/mailbox-moves.ts';
import type { ApiWorld } from './api-world.ts';

/** Rows of exports that nothing runs. @returns their ids */
export async function openMoves(
  world: ApiWorld,
  { organizationId, mailboxId }: { readonly organizationId: string; readonly mailboxId: string },
  count: number,
  state: 'running' | 'failed' | 'finished' = 'running',
  format: ExportFormat = 'mbox',
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('move'));
  for (const id of ids)
    await world.sql(
      `insert into mailbox_move (id, organization_id, mailbox_id, direction, format, state, key_sealed, created_at, expires_at)
       values ($1, $2, $3, 'export', $6, $4, $5, now(), now() + interval '1 hour')`,
      [
        id,
        organizationId,
        mailboxId,
        state,
        world.services.secrets.seal(randomBytes(PART_KEY_BYTES).toString('base64'), moveKeyPlace(id)),
        format,
      ],
    );
  return ids;
}
