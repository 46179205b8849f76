/**
 * What all test files share: one PostgreSQL with a migrated template database, one Temporal server, the bundled
 * workflows and a certificate, on free ports and in one folder.
 */
import path from 'node:path';
import pg from 'pg';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer } from '#dev/launcher/temporal-server.ts';
import { TEST_ENVIRONMENT } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

const TEMPLATE = 'template_migrated';

export interface TestServers {
  /** Where they are, for `test/support/services.ts`. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** A migrated database nobody is connected to, to be copied. @returns address of the maintenance database */
async function makeTemplate(serverUrl: string): Promise<string> {
  const maintenance = new URL(serverUrl);
  maintenance.pathname = 'postgres';
  const client = new pg.Client({ connectionString: maintenance.href });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = TEMPLATE;
  const db = await openDatabase({ url: url.href, poolMax: 2 });
  await migrate(db);
  await db.close();
  return maintenance.href;
}

/** @param folder where they keep their files, to be removed afterwards */
export async function startTestServers(folder: string, say: (text: string) => void): Promise<TestServers> {
  const toStop: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(toStop.map((each) => each()));
  };
  const events = { onCrash: say, onGivenUp: (error: Error) => say(error.message) };
  const startedAt = performance.now();
  const results = await Promise.allSettled([
    testPort().then(async (port) => {
      const options = { folder: path.join(folder, 'postgres'), port, disposable: true, events };
      const server = await startEmbeddedPostgres(options);
      toStop.push(server.stop);
      return makeTemplate(server.url);
    }),
    temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress: say }).then(async (program) => {
      const server = await startTemporalServer({
        program,
        folder: path.join(folder, 'temporal'),
        port: await testPort(),
        ui: false,
        namespace: 'default',
        events,
      });
      toStop.push(server.stop);
      return server.address;
    }),
    workflowBundle().then((made) => {
      if (!('codePath' in made)) throw new Error('the bundled workflows could not be written to worker/dist');
      return made.codePath;
    }),
  ]);
  const [postgres, temporal, bundle] = results;
  if (postgres.status === 'rejected' || temporal.status === 'rejected' || bundle.status === 'rejected') {
    await stop();
    throw new AggregateError(
      results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
      'the servers of the tests did not start',
    );
  }
  const tls = developmentCertificates(path.join(folder, 'tls'), ['mail.test']);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`PostgreSQL ${new URL(postgres.value).host}, Temporal ${temporal.value}: up in ${seconds} s`);
  return {
    environment: {
      [TEST_ENVIRONMENT.postgres]: postgres.value,
      [TEST_ENVIRONMENT.template]: TEMPLATE,
      [TEST_ENVIRONMENT.temporal]: temporal.value,
      [TEST_ENVIRONMENT.workflowBundle]: bundle.value,
      [TEST_ENVIRONMENT.caFile]: tls.caFile,
      [TEST_ENVIRONMENT.certFile]: tls.certFile,
      [TEST_ENVIRONMENT.keyFile]: tls.keyFile,
    },
    stop,
  };
}
