/**
 * The Temporal of `npm start`: TEMPORAL_ADDRESS; else a server that already answers on TEMPORAL_PORT; else an own
 * development server, which is the only one that is stopped at the end.
 */
import path from 'node:path';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { type AgreedTemporal, otherTemporal } from '#core/platform/settings/agreed-settings.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { temporalProblem } from '#core/process/dependencies.ts';
import type { ChildEvents } from './child-process.ts';
import { accepts } from './free-port.ts';
import { temporalProgram } from './temporal-program.ts';
import { endLeftoverTemporal, startTemporalServer, type TemporalServer } from './temporal-server.ts';

const HOST = '127.0.0.1';
/** An own server may have got another port since its data were deleted. */
const ON_THIS_MACHINE = /^(?:127\.|localhost:|\[::1\])/;

export interface ChosenTemporal {
  readonly origin: 'configured' | 'found' | 'started';
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** What was missing on the server and was created, in words. */
  readonly added: readonly string[];
  /** Only for one we started. */
  readonly server: TemporalServer | undefined;
}

export interface TemporalChoiceOptions {
  readonly settings: Settings;
  /** What the server must be; undefined: any. */
  readonly agreed: AgreedTemporal | undefined;
  /** State of an own server. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly events: ChildEvents;
  onProgress(text: string): void;
}

/** @throws with instructions: wrong address, port in use by another program, no server available */
export async function chooseTemporal(options: TemporalChoiceOptions): Promise<ChosenTemporal> {
  const { settings, folder, onProgress, agreed } = options;
  const namespace = settings.TEMPORAL_NAMESPACE;
  await endLeftoverTemporal(folder, onProgress);
  if (settings.TEMPORAL_ADDRESS !== undefined) {
    const connection = temporalConnectionOptions(settings);
    const { made: added } = await requireTemporal(connection, namespace, { mayCreateNamespace: true, agreed });
    return {
      origin: 'configured',
      address: connection.address,
      uiUrl: settings.TEMPORAL_UI_URL,
      added,
      server: undefined,
    };
  }
  const address = `${HOST}:${settings.TEMPORAL_PORT}`;
  if (settings.TEMPORAL_PORT !== 0 && (await accepts(HOST, settings.TEMPORAL_PORT))) {
    const problem = await temporalProblem({ address }, namespace);
    if (problem !== undefined)
      throw new Error(
        `The program that listens on ${address} is not a Temporal with namespace "${namespace}" (${problem}). ` +
          'Stop it, set TEMPORAL_PORT to another port, or set TEMPORAL_ADDRESS to the Temporal you want to use.',
      );
    const { made: added } = await requireTemporal({ address }, namespace, { mayCreateNamespace: true, agreed });
    return { origin: 'found', address, uiUrl: settings.TEMPORAL_UI_URL, added, server: undefined };
  }
  const other = otherTemporal(agreed, { namespaceId: undefined, address });
  if (other !== undefined && !ON_THIS_MACHINE.test(agreed?.address ?? '')) throw new SettingsError([other]);
  const program = await temporalProgram({ configured: settings.TEMPORAL_CLI, signal: options.signal, onProgress });
  const server = await startTemporalServer({
    program,
    folder: path.resolve(folder),
    port: settings.TEMPORAL_PORT,
    namespace,
    events: options.events,
    onProgress,
  });
  return {
    origin: 'started',
    address: server.address,
    uiUrl: settings.TEMPORAL_UI_URL ?? server.uiUrl,
    added: [],
    server,
  };
}
