/**
 * Spans of traces. Code of the service calls these functions and knows nothing of OpenTelemetry: as long as no recorder
 * is set, they cost a comparison, write nothing, and no package is loaded (`start-tracing.ts`).
 *
 *   inSpan ──▶ work, in which the span is the current one ──▶ end
 *   currentTraceContext ──▶ `traceparent` (W3C Trace Context), kept with what goes on in another process
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanAttributes, SpanName } from './span-names.ts';

export interface Span {
  /** `traceparent` of it; undefined: there is no tracing. */
  readonly context: string | undefined;
  set(attributes: SpanAttributes): void;
  /** It did not work. @param type a short stable name, for `error.type` */
  fail(type: string): void;
  end(): void;
}

export type SpanKind = 'server' | 'client' | 'producer' | 'internal';

export interface SpanRecorder {
  begin(name: SpanName, given: { kind: SpanKind; parent: string | undefined; attributes: SpanAttributes }): Span;
  /** Sends what was recorded. Never rejects. */
  close(): Promise<void>;
  /** Whether addresses of mail may be in attributes. */
  readonly addresses: boolean;
}

let recorder: SpanRecorder | undefined;
/** `traceparent` of the current span. */
const current = new AsyncLocalStorage<string | undefined>();

const NO_SPAN: Span = { context: undefined, set() {}, fail() {}, end() {} };

/** @param given undefined: no tracing from now on */
export function recordSpansBy(given: SpanRecorder | undefined): void {
  recorder = given;
}

export const isTracing = (): boolean => recorder !== undefined;

/** `traceparent` of the current span, to be kept with what goes on elsewhere; undefined: there is none. */
export const currentTraceContext = (): string | undefined => (recorder === undefined ? undefined : current.getStore());

/** Carries out work as a part of a trace that began elsewhere; undefined: of none. */
export const inTraceContext = <Result>(context: string | undefined, work: () => Result): Result =>
  recorder === undefined ? work() : current.run(context, work);

export interface SpanOptions {
  /** Default: `internal`. */
  readonly kind?: SpanKind;
  /** `traceparent` of the span above. Default: the current one. `null`: none, a trace begins. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

/** A span that the caller ends, such as one of a connection. It is not the current one. */
export function beginSpan(name: SpanName, options: SpanOptions = {}): Span {
  if (recorder === undefined) return NO_SPAN;
  const { kind = 'internal', attributes = {} } = options;
  const parent = options.parent === null ? undefined : (options.parent ?? current.getStore());
  return recorder.begin(name, { kind, parent, attributes });
}

/** Carries out work in a span, which is the current one meanwhile. A rejection ends it as failed and is passed on. */
export async function inSpan<Result>(
  name: SpanName,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  if (recorder === undefined) return work(NO_SPAN);
  const span = beginSpan(name, options);
  try {
    return await current.run(span.context, () => work(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'unknown');
    throw error;
  } finally {
    span.end();
  }
}

/** Envelope addresses as attributes, where a setting allows them. */
export const addressAttributes = (from: string | undefined, to: readonly string[]): SpanAttributes =>
  recorder?.addresses === true ? { 'agent_mailbox.mail.from': from, 'agent_mailbox.mail.to': to } : {};
