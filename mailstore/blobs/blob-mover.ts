/**
 * With BLOB_STORE=s3, moves contents to the object storage in the background, soon after they came. Several processes do
 * so at once. While the storage cannot be used, mail is accepted and read as before, and its contents wait in the rows.
 */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { OBJECT_MOVED_AFTER_SECONDS } from '#domain/mail/blob-storage.ts';
import { moveToObjects } from './move-blobs.ts';

const LOOK_MS = 5_000;
const AGAIN_MS = 20;
const FAILED_MS = 30_000;

interface BlobMover {
  /** Resolves when the current portion is done. */
  close(): Promise<void>;
}

export function startBlobMover({ db, log, settings }: Pick<Services, 'db' | 'log' | 'settings'>): BlobMover {
  const { objects } = db;
  if (settings.BLOB_STORE !== 's3' || objects === undefined) return { close: async () => {} };
  const afterSeconds = settings.MODE === 'production' ? OBJECT_MOVED_AFTER_SECONDS : 1;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(delayMs: number): void {
    if (closed) return;
    timer = setTimeout(() => {
      running = moveToObjects(db, objects as NonNullable<typeof objects>, afterSeconds)
        .then(({ more }) => (more ? AGAIN_MS : LOOK_MS))
        .catch((error: unknown) => {
          if (!isInfrastructureError(error))
            log.warn(
              { reason: reasonOf(error) },
              'contents could not be moved to the object storage; they stay in PostgreSQL',
            );
          return FAILED_MS;
        })
        .then(schedule);
    }, delayMs);
    timer.unref();
  }

  schedule(AGAIN_MS);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
