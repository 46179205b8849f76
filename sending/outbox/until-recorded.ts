/**
 * Writes that must not get lost, because the other host has already accepted the mail. They are repeated as long as the
 * process runs; meanwhile this process sends nothing more, because unrecorded mail would be sent twice.
 */
import { type Circuit, circuit } from '#core/platform/batching/circuit.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { DATABASE } from '#core/platform/process/patient-database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';

type Logging = { readonly log: Logger };

/** One per process and log. */
const circuits = new WeakMap<Logger, Circuit>();

function recording({ log }: Logging): Circuit {
  let found = circuits.get(log);
  if (found === undefined) {
    found = circuit({ isFault: isInfrastructureError, outage: outageLog(log, DATABASE) });
    circuits.set(log, found);
  }
  return found;
}

/**
 * Repeats a write, which must do no harm when it is done twice, while the infrastructure fails.
 *
 * @param goOn false ends it with the error; default: never
 */
export const untilRecorded = <Result>(
  services: Logging,
  write: () => Promise<Result>,
  goOn?: () => boolean,
): Promise<Result> => recording(services).run(write, goOn);

/** Waits until outcomes can be recorded. @returns false when `goOn` says so meanwhile */
export async function recordingWorks(services: Logging, goOn: () => boolean): Promise<boolean> {
  const writes = recording(services);
  while (writes.isOpen && goOn()) await writes.closed();
  return goOn();
}
