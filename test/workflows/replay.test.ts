import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from '@temporalio/worker';
import { testWorkflowBundle } from '#test/support/services.ts';

interface History {
  events: [{ workflowExecutionStartedEventAttributes: { workflowId: string } }];
}

const folder = new URL('../histories/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

test('there is a history of every workflow', () => {
  const workflows = new Set(files.map((name) => name.split('.')[0]));
  assert.deepEqual(
    [...workflows].toSorted((a = '', b = '') => a.localeCompare(b)),
    [
      ...['delete-history', 'endpoint-delivery', 'erase-content', 'event-fan-out', 'member-notice', 'move-mailbox'],
      ...['outbound-message', 'recover-deliveries'],
    ],
  );
});

for (const name of files)
  test(`today's workflows replay ${name} without a difference`, async () => {
    const history: History = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    // Ids of children are made of the workflow's own, so it is replayed under the id it had.
    const workflowId = history.events[0].workflowExecutionStartedEventAttributes.workflowId;
    await Worker.runReplayHistory({ workflowBundle: testWorkflowBundle() }, history, workflowId);
  });
