/**
 * Downloads the Temporal program with Temporal's SDK, as for tests; the SDK checks and unpacks it. Runs as a separate
 * process, because the SDK also starts a server and a runtime, which must not stay in the launcher.
 *
 * Arguments: folder, version. The program is then in `<folder>/temporal-<version>` afterwards.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , downloadDir = '.', version = 'default'] = process.argv;
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version, ttl: '365d' } },
});
await environment.teardown();
