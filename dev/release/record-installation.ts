/** `npm run record-installation -- <version>`, see `test/upgrade/record-installation.ts`. */
import { recordInstallation } from '#test/upgrade/record-installation.ts';

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  process.stderr.write('usage: npm run record-installation -- <version>, e.g. 0.2.0\n');
  process.exitCode = 1;
} else {
  await recordInstallation(version);
}
