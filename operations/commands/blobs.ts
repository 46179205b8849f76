/** `blobs …`: where contents of mail are, and moving them between PostgreSQL and the object storage. */
import { choice } from '#core/platform/settings/setting-forms.ts';
import type { BlobObjects } from '#db/blob-objects.ts';
import type { Database } from '#db/database.ts';
import { BLOB_STORES } from '#domain/mail/blob-storage.ts';
import {
  type BlobPlaces,
  blobPlaces,
  moveToObjects,
  moveToRows,
  removeFreeObjects,
} from '#mailstore/blobs/move-blobs.ts';
import { asMib } from '#operations/backup/described.ts';
import { CommandError, command } from '#operations/command.ts';

const POOL_MAX = 10;

const placesText = ({ rows, objects, freeObjects }: BlobPlaces): string =>
  [
    `in PostgreSQL           ${rows.blobs} contents, ${asMib(rows.bytes)}`,
    `in the object storage   ${objects.blobs} contents, ${asMib(objects.bytes)}`,
    `objects without use     ${freeObjects}, removed an hour after their last use`,
  ].join('\n');

/** @throws {CommandError} */
function requireObjects({ objects }: Database): BlobObjects {
  if (objects === undefined)
    throw new CommandError(
      'no object storage is set: S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, and SECRETS_KEYS',
    );
  return objects;
}

export const blobsStatusCommand = command({
  name: 'blobs status',
  summary: 'count the contents of mail in PostgreSQL and in the object storage',
  description: 'Counts contents and their bytes by their place. Reads the whole table, without bytes. Changes nothing.',
  arguments: {},
  options: {},
  async run({ database, output }) {
    const places = await blobPlaces(await database(1));
    output(places, placesText(places));
    return 'done';
  },
});

export const blobsMoveCommand = command({
  name: 'blobs move',
  summary: 'move all contents of mail to the object storage, or back into PostgreSQL',
  description:
    'Moves contents while the service runs, which reads them at either place. Every process must have S3_* set before. Interrupted, it goes on when it is run again. Set BLOB_STORE to the same place first: with `s3`, the service moves what a mail brings by itself. Moving back, keep S3_* until an hour after the end, when objects without use are removed.',
  arguments: { to: { text: BLOB_STORES.join(', '), form: choice(...BLOB_STORES) } },
  options: {},
  examples: ['blobs move s3'],
  async run(context) {
    const { to } = context.args;
    const db = await context.database(POOL_MAX);
    const objects = requireObjects(db);
    let moved = 0;
    await context.progress.step(`Moving to ${to}`, async () => {
      for (let [more, after] = [true, '']; more && !context.signal.aborted; ) {
        const portion = to === 's3' ? await moveToObjects(db, objects, 0) : await moveToRows(db, objects, after);
        moved += portion.done;
        [more, after] = [portion.more, portion.after ?? ''];
      }
    });
    if (context.signal.aborted) throw new CommandError(`interrupted after ${moved} contents; run it again to go on`);
    for (let more = true; more; ) ({ more } = await removeFreeObjects(db, objects));
    const places = await blobPlaces(db);
    context.output({ moved, ...places }, `${moved} contents were moved.\n${placesText(places)}`);
    return 'done';
  },
});
