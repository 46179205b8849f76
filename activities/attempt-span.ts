/** The span of an attempt (docs/operations/traces.md). */
import { inSpan } from '#core/platform/tracing/trace.ts';
import type { AttemptResult } from '#core/webhooks/requests/webhook-sender.ts';
import type { ReservedAttempt } from '#db/queries/deliveries/attempts.ts';
import type { AttemptKind } from '#domain/webhooks/delivery-workflows.ts';

/**
 * Makes an attempt in a span of its own.
 *
 * @param context of the event
 * @param work given the context that the receiver gets
 */
export const inAttemptSpan = (
  attempt: ReservedAttempt,
  run: { readonly kind: AttemptKind; readonly workflowId: string | null },
  context: string | undefined,
  work: (traceparent: string | undefined) => Promise<AttemptResult>,
): Promise<AttemptResult> =>
  inSpan(
    'webhook.attempt',
    {
      kind: 'client',
      parent: context ?? null,
      attributes: {
        'http.request.method': 'POST',
        'server.address': URL.parse(attempt.url)?.hostname,
        'agent_mailbox.event.id': attempt.eventId,
        'agent_mailbox.event.type': attempt.eventType,
        'agent_mailbox.delivery.id': attempt.id,
        'agent_mailbox.endpoint.id': attempt.endpointId,
        'agent_mailbox.attempt.number': attempt.number,
        'agent_mailbox.attempt.kind': run.kind,
        'temporal.workflow.id': run.workflowId ?? undefined,
      },
    },
    async (span) => {
      const result = await work(span.context);
      span.set({ 'http.response.status_code': result.responseCode ?? undefined });
      if (result.error !== null) span.fail(result.error);
      return result;
    },
  );
