/** For tests on a PostgreSQL that is configured as the operating system's distribution does it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import {
  type DistributionPrograms,
  type DistributionServer,
  type DistributionServerOptions,
  distributionPostgres,
  embeddedPrograms,
  startDistributionServer,
} from '#dev/launcher/postgres-binaries.ts';

type Configuration = Pick<DistributionServerOptions, 'settings' | 'initdb' | 'environment'>;

/** A server that is stopped and removed by `stop`. */
export async function distributionServer(configuration: Configuration = {}): Promise<DistributionServer> {
  const programs = distributionPostgres();
  if (programs === undefined) throw new Error('no PostgreSQL of the distribution');
  return startServer(programs, configuration);
}

/** The same, with the programs of the embedded server where the distribution has none. */
export const configuredServer = (configuration: Configuration = {}): Promise<DistributionServer> =>
  startServer(distributionPostgres() ?? embeddedPrograms(), configuration);

async function startServer(programs: DistributionPrograms, options: Configuration): Promise<DistributionServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'distribution-postgres-'));
  try {
    const server = await startDistributionServer({ ...options, programs, folder });
    return {
      ...server,
      async stop() {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Makes a migrated database. @returns its address */
export async function migratedDatabase(server: DistributionServer, name: string): Promise<string> {
  await server.run([`create database ${name}`]);
  const url = server.url(name);
  const db = await openDatabase({ url, poolMax: 2 });
  try {
    await migrate(db);
  } finally {
    await db.close();
  }
  return url;
}
