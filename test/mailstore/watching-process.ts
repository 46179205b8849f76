/** A second mail process for the tests: watches FOLDER_ID and prints its total whenever it is woken; ends with its input. */

import { openServices } from '#core/platform/process/services.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { testLog, testSettings } from '#test/support/services.ts';

const services = await openServices(testSettings({ DATABASE_URL: process.env['DATABASE_URL'] ?? '' }), testLog());
const notifier = openMailNotifier(services);
const folderId = Number(process.env['FOLDER_ID']);
let first = true;
notifier.watchFolder(folderId, async () => {
  if (first) process.stdout.write('listening\n');
  first = false;
  const [row] = await services.db.query<{ total: number }>(`select total from folder where id = $1`, [folderId]);
  process.stdout.write(`total ${row?.total}\n`);
});
process.stdin.resume().once('end', async () => {
  await notifier.close();
  await services.close();
});
