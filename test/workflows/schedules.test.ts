import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { testSettings } from '#test/support/services.ts';
import { historyScheduleId, keepSchedules } from '#worker/keep-temporal-setup.ts';

let temporal: TemporalClient;
before(() => {
  temporal = connectTemporal(testSettings());
});
after(async () => {
  await temporal.client.schedule.getHandle(historyScheduleId(temporal.taskQueue)).delete();
  await temporal.close();
});

test('a Schedule that is there gets the definition of today, and stays paused if somebody paused it', async () => {
  const scheduleId = historyScheduleId(temporal.taskQueue);
  const { schedule } = temporal.client;
  const handle = await schedule.create({
    scheduleId,
    spec: { intervals: [{ every: '1 hour' }] },
    action: { type: 'startWorkflow', workflowType: 'anOlderOne', taskQueue: 'elsewhere', args: [] },
  });
  await handle.pause('maintenance');
  await keepSchedules(temporal);
  await keepSchedules(temporal);
  const { spec, action, state } = await handle.describe();
  assert.deepEqual(
    spec.intervals?.map(({ every }) => every),
    [6 * 3_600_000],
  );
  assert.deepEqual([action.workflowType, action.taskQueue], ['deleteHistory', temporal.taskQueue]);
  assert.deepEqual([state.paused, state.note], [true, 'maintenance']);
});
