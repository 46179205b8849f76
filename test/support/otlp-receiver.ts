/** A receiver of traces: OTLP over HTTP in JSON, as OpenTelemetry specifies it. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly arrayValue?: { readonly values?: readonly Attribute['value'][] };
  };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: number };
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: the root of its trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** `service.name` of the process that sent it. */
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Bodies of all requests. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

const ERROR_STATUS = 2;

const valueOf = ({ stringValue, intValue, arrayValue }: Attribute['value']): unknown =>
  stringValue ?? (intValue === undefined ? arrayValue?.values?.map(valueOf) : Number(intValue));
const recordOf = (attributes: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];

  function take(body: string): void {
    bodies.push(body);
    const { resourceSpans = [] } = JSON.parse(body) as {
      resourceSpans?: {
        resource?: { attributes?: Attribute[] };
        scopeSpans?: { spans?: OtlpSpan[] }[];
      }[];
    };
    for (const { resource, scopeSpans = [] } of resourceSpans) {
      const service = String(recordOf(resource?.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((scope) => scope.spans ?? []))
        spans.push({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId || undefined,
          name: span.name,
          service,
          attributes: recordOf(span.attributes),
          failed: span.status?.code === ERROR_STATUS,
        });
    }
  }

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isTraces = request.url === '/v1/traces' && request.headers['content-type'] === 'application/json';
      if (isTraces) take(Buffer.concat(chunks).toString('utf8'));
      response.writeHead(isTraces ? 200 : 415, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
