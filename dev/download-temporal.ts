/**
 * Downloads the Temporal program the way Temporal's SDK does it for tests, checked and unpacked by the SDK. Run as a
 * process of its own, because the SDK also starts a server and a runtime, which must not stay in the launcher.
 *
 * Arguments: folder, version. The program lies in `<folder>/temporal-<version>` afterwards.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [, , downloadDir = '.', version = 'default'] = process.argv;
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version, ttl: '365d' } },
});
await environment.teardown();
