/** The faults of a run, in the order in which they happen. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { missingInEngine } from './engine-setup.ts';
import type { PostgresServer } from './postgres-server.ts';

export type FaultKind = 'kill' | 'pause' | 'disk' | 'read-only' | 'drop';

export interface Fault {
  readonly name: string;
  readonly kind: FaultKind;
  /** Injects the fault from its beginning to its end; recovery is observed afterwards. */
  carryOut(cluster: Cluster): Promise<void>;
  /** What the service must create again and has not created yet. */
  missing?(cluster: Cluster): Promise<readonly string[]>;
}

const PAUSE_MS = 12_000;
/** Longer than the first three waits of a delivery, so that attempts that fail for this reason would show. */
const DISK_FULL_MS = 25_000;
const READ_ONLY_MS = 15_000;
/** Without a namespace: longer than a worker may go on without one. */
const NO_NAMESPACE_MS = 15_000;

const SERVICE_PROCESSES = ['api-1', 'api-2', 'worker-1', 'worker-2', 'mail-1', 'mail-2'];
const PROGRAMS = [...SERVICE_PROCESSES, 'PostgreSQL', 'PostgreSQL of the engine', 'Temporal'];

function programNamed(cluster: Cluster, name: string) {
  const program = cluster.programs().find((each) => each.name === name);
  if (program === undefined) throw new Error(`there is no process ${name}`);
  return program;
}

const slug = (name: string): string => name.toLowerCase().replace('postgresql of the engine', 'engine-postgresql');

const kills = PROGRAMS.map(
  (name): Fault => ({
    name: `kill ${slug(name)}`,
    kind: 'kill',
    carryOut: async (cluster) => programNamed(cluster, name).signal('SIGKILL'),
  }),
);

const pauses = PROGRAMS.map(
  (name): Fault => ({
    name: `pause ${slug(name)}`,
    kind: 'pause',
    async carryOut(cluster) {
      const program = programNamed(cluster, name);
      program.signal('SIGSTOP');
      await delay(PAUSE_MS);
      program.signal('SIGCONT');
    },
  }),
);

interface Fillable {
  fill(): void;
  free(): void;
}

const fillDisks = (name: string, disksOf: (cluster: Cluster) => readonly Fillable[]): Fault => ({
  name: `fill disk of ${name}`,
  kind: 'disk',
  async carryOut(cluster) {
    const disks = disksOf(cluster);
    for (const disk of disks) disk.fill();
    await delay(DISK_FULL_MS);
    for (const disk of disks) disk.free();
  },
});

/** As a server that became a standby, or whose operator made it read-only: 25006 for every write. */
async function setReadOnly(postgres: PostgresServer, readOnly: boolean): Promise<void> {
  const value = readOnly ? 'on' : 'off';
  await postgres.query('postgres', `alter system set default_transaction_read_only = ${value}`);
  await postgres.query('postgres', 'select pg_reload_conf()');
}

const readOnly: Fault = {
  name: 'read-only postgresql',
  kind: 'read-only',
  async carryOut({ postgres }) {
    await setReadOnly(postgres, true);
    await delay(READ_ONLY_MS);
    await setReadOnly(postgres, false);
  },
};

/** The engine loses all its state; an operator creates its namespace again some time later. */
const dropEngineState = (time: string): Fault => ({
  name: `drop engine state, ${time}`,
  kind: 'drop',
  async carryOut({ temporal }) {
    await temporal.dropState();
    await delay(NO_NAMESPACE_MS);
    await temporal.registerNamespace();
  },
  missing: ({ temporal }) => missingInEngine(temporal),
});

export const FAULTS: readonly Fault[] = [
  ...kills,
  ...pauses,
  fillDisks('mail', ({ service }) => service.mailDisks),
  fillDisks('postgresql', ({ postgres }) => [postgres.disk]),
  fillDisks('postgresql log', ({ postgres }) => [postgres.logDisk]),
  fillDisks('engine', ({ enginePostgres }) => [enginePostgres.disk, enginePostgres.logDisk]),
  fillDisks('both servers', ({ postgres, enginePostgres }) => [postgres.disk, enginePostgres.disk]),
  readOnly,
  dropEngineState('first time'),
  dropEngineState('second time'),
];
