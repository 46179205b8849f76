/**
 * Workers of tests. The thread that runs the workflows takes half a second of a processor to start, much more than the
 * rest of a worker, so the threads of closed workers are kept for the next workers of the process.
 */
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { Services } from '#core/platform/process/services.ts';
import { type RunningWorker, startWorker, type WorkerExtras } from '#worker/start.ts';
import { kept } from './kept.ts';
import { testWorkflowBundle } from './services.ts';

/** Threads that no worker uses. One thread never serves two workers at once: it knows workflows by their run alone. */
const free: WorkflowCreator[] = [];
/** The tests are over: no other worker will come. Those of a file with a process of its own may still be open. */
let isOver = false;

async function end(thread: WorkflowCreator): Promise<void> {
  isOver = true;
  const at = free.indexOf(thread);
  if (at === -1) return; // Its worker ends it.
  free.splice(at, 1);
  await thread.destroy();
}

class ThreadKeepingWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...args: Parameters<typeof Worker.createWorkflowCreator>
  ): Promise<WorkflowCreator> {
    const open = () => super.createWorkflowCreator(...args);
    const thread = free.pop() ?? (await kept(open, end)());
    return {
      createWorkflow: (options) => thread.createWorkflow(options),
      async destroy() {
        if (isOver) await thread.destroy();
        else free.push(thread);
      },
    };
  }
}

/** A worker with the bundled workflows. */
export const startTestWorker = (
  services: Services,
  connection: NativeConnection,
  extras: WorkerExtras = {},
): Promise<RunningWorker> =>
  startWorker(services, connection, {
    bundle: testWorkflowBundle(),
    createWorker: (options) => ThreadKeepingWorker.create(options),
    ...extras,
  });
