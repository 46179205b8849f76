/** Switches tracing on, where an address for it is set; otherwise neither SDK nor exporter of OpenTelemetry is loaded. */
import { recordSpansBy } from './trace.ts';

/** @returns whether traces are sent, by the standard variables of OpenTelemetry */
export function wantsTracing(environment: Readonly<Record<string, string | undefined>>): boolean {
  const given = (name: string) => (environment[name] ?? '').trim();
  if (given('OTEL_SDK_DISABLED').toLowerCase() === 'true' || given('OTEL_TRACES_EXPORTER') === 'none') return false;
  return given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '' || given('OTEL_EXPORTER_OTLP_ENDPOINT') !== '';
}

/**
 * @param addresses whether addresses of mail may be in attributes
 * @returns sends what was recorded, at the end of the process
 */
export async function startTracing(
  serviceName: string,
  environment: Readonly<Record<string, string | undefined>>,
  addresses: boolean,
): Promise<() => Promise<void>> {
  if (!wantsTracing(environment)) return async () => {};
  const { openTelemetry } = await import('./open-telemetry.ts');
  const recorder = openTelemetry(serviceName, addresses, environment);
  recordSpansBy(recorder);
  return async () => {
    recordSpansBy(undefined);
    await recorder.close();
  };
}
