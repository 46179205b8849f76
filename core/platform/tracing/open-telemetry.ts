/** Records spans by OpenTelemetry and sends them by OTLP over HTTP. Imported only where tracing is on. */
import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SpanAttributes } from './span-names.ts';
import type { SpanRecorder } from './trace.ts';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const;

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const known = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? [...value] : value]],
    ),
  );

const SCHEDULE_DELAY_MS = 5_000;

/** @returns undefined: not given, or no number from 0 to `max` */
function numberOf(text: string | undefined, max: number): number | undefined {
  const number = Number(text?.trim() || Number.NaN);
  return number >= 0 && number <= max ? number : undefined;
}

/**
 * The exporter and the resource read the standard variables `OTEL_…` of the process themselves; those of the sampler and
 * of batches are read here.
 */
export function openTelemetry(
  serviceName: string,
  addresses: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): SpanRecorder {
  const named = resourceFromAttributes({ 'service.name': serviceName, 'service.namespace': 'agent-mailbox' });
  const provider = new TracerProvider({
    // Of two with the same attribute the later one counts: what the operator gives.
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    // Of a trace that is sampled all processes send their spans: the decision is in its context.
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(numberOf(environment['OTEL_TRACES_SAMPLER_ARG'], 1) ?? 1),
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        scheduledDelayMillis: numberOf(environment['OTEL_BSP_SCHEDULE_DELAY'], 600_000) ?? SCHEDULE_DELAY_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('agent-mailbox');
  return {
    addresses,
    begin(name, { kind, parent, attributes }) {
      const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
      const above =
        traceId === undefined || spanId === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId,
              spanId,
              traceFlags: Number.parseInt(flags ?? '00', 16),
              isRemote: true,
            });
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: known(attributes) }, above);
      const own = span.spanContext();
      return {
        context: `00-${own.traceId}-${own.spanId}-${own.traceFlags.toString(16).padStart(2, '0')}`,
        set: (more) => void span.setAttributes(known(more)),
        fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
        end: () => span.end(),
      };
    },
    close: () => provider.shutdown().catch(() => {}),
  };
}
