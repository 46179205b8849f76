/**
 * Which Temporal `npm start` works with: TEMPORAL_ADDRESS; a server that answers on TEMPORAL_PORT already; else a
 * development server of our own, which is the only one we stop.
 */
import path from 'node:path';
import { requireTemporal, temporalProblem } from '../core/dependencies.ts';
import type { Settings } from '../core/settings.ts';
import { temporalConnectionOptions } from '../core/temporal-client.ts';
import type { ChildEvents } from './child-process.ts';
import { accepts } from './free-port.ts';
import { addSearchAttributes } from './search-attributes.ts';
import { temporalProgram } from './temporal-program.ts';
import { endLeftoverTemporal, startTemporalServer, type TemporalServer } from './temporal-server.ts';

const HOST = '127.0.0.1';

export interface ChosenTemporal {
  readonly origin: 'configured' | 'found' | 'started';
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** Search attributes the server did not know. */
  readonly added: readonly string[];
  /** Only for one we started. */
  readonly server: TemporalServer | undefined;
}

export interface TemporalChoiceOptions {
  readonly settings: Settings;
  /** Holds the state of a server of our own. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly events: ChildEvents;
  onProgress(text: string): void;
}

/** @throws with what to do: address wrong, port taken by something else, no server to be had */
export async function chooseTemporal(options: TemporalChoiceOptions): Promise<ChosenTemporal> {
  const { settings, folder, onProgress } = options;
  const namespace = settings.TEMPORAL_NAMESPACE;
  await endLeftoverTemporal(folder, onProgress);
  if (settings.TEMPORAL_ADDRESS !== undefined) {
    const connection = temporalConnectionOptions(settings);
    await requireTemporal(connection, namespace);
    const added = await addSearchAttributes(connection, namespace);
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
        `Something listens on ${address} that is no Temporal with namespace "${namespace}" (${problem}). ` +
          'End it, set TEMPORAL_PORT to another port, or TEMPORAL_ADDRESS to the Temporal you want to use.',
      );
    const added = await addSearchAttributes({ address }, namespace);
    return { origin: 'found', address, uiUrl: settings.TEMPORAL_UI_URL, added, server: undefined };
  }
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
