/** Recoveries: sending given-up deliveries again. */
import Type from 'typebox';
import { closed, dateTime, listOf, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { STOP_REASONS } from '#domain/webhooks/delivery-workflows.ts';
import { RECOVERABLE_STATUSES, RECOVERY_STATES } from '#domain/webhooks/recovery.ts';
import { count, EndpointId } from './schema.ts';

const RecoveryId = Type.String({ pattern: idPattern('recovery'), description: 'Recovery id.' });
export const RecoveryParams = closed({ id: EndpointId, rid: RecoveryId });

export const RecoverDeliveries = closed(
  {
    since: dateTime('Deliveries created at this time or later.'),
    until: Type.Optional(dateTime('And before this one. Default, and at most: now.')),
    status: Type.Optional(
      Type.Enum(RECOVERABLE_STATUSES, {
        description:
          '`exhausted` (default): deliveries that were given up, whatever the reason. `failed`: deliveries that wait for a retry, which is then made now.',
      }),
    ),
  },
  { title: 'NewRecovery' },
);

export const Recovery = closed(
  {
    id: RecoveryId,
    endpointId: EndpointId,
    status: Type.Enum(RECOVERABLE_STATUSES, { description: 'Which deliveries are sent again.' }),
    since: dateTime(),
    until: dateTime(),
    state: Type.Enum(RECOVERY_STATES, {
      description:
        '`running`; `paused`: can be resumed; `completed`: nothing is left; `cancelled`: by a person; `stopped`: see `stopReason`.',
    }),
    stopReason: nullable(Type.Enum(STOP_REASONS, { description: 'Why it was `stopped`; null in every other state.' })),
    total: Type.Integer({ minimum: 0, description: 'Deliveries found at its start.' }),
    done: Type.Integer({ minimum: 0, description: 'Sent again so far: `succeeded` + `failed`.' }),
    succeeded: count(),
    failed: count(),
    createdAt: dateTime(),
    updatedAt: dateTime(),
    finishedAt: nullable(dateTime()),
    workflowId: Type.String(),
    temporalUrl: Type.Optional(
      Type.String({ description: 'Its workflow in the Temporal UI, where one is configured.' }),
    ),
  },
  { title: 'Recovery' },
);
export const RecoveryList = listOf(Recovery, 'RecoveryList');
