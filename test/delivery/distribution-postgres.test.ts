/** Deliveries on a PostgreSQL that nobody has configured for this service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deliveryWorld } from '#test/support/delivery-world.ts';
import { distributionServer, migratedDatabase } from '#test/support/distribution-server.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { needs } from '#test/support/programs.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const DELIVERIES = 10_000;
/** Logs the plan of every statement as it was executed. */
const EXPLAIN_ALL = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
};
/** A part of the text of each statement that a lane, a dispatcher and a workflow repeat. */
const HOT_STATEMENTS: Readonly<Record<string, RegExp>> = {
  'a sign of life': /insert into delivery_lanes/,
  'a claim of a lane': /with\s+due as[\s\S]*?set lease = case/,
  'what dead lanes left behind': /left_behind/,
  'a claim of the dispatcher': /set fan_out_id = \$1/,
  'a reservation of a workflow': /reservation = \$7::uuid/,
  'results of attempts': /insert into delivery_attempts/,
};

test(
  'no statement of a delivery is compiled by a PostgreSQL that compiles costly plans',
  needs('PostgreSQL of the distribution'),
  async (t) => {
    const server = await distributionServer({ settings: EXPLAIN_ALL });
    try {
      const url = await migratedDatabase(server, 'deliveries');
      const log = () => readFileSync(server.logFile, 'utf8');
      // The log would show it.
      await server.run(['set jit_above_cost = 0', 'select count(*) as canary from pg_class'], 'deliveries');
      if (!/^\s*JIT:/m.test(log())) return t.skip('this PostgreSQL is built without LLVM: it compiles nothing');
      const canaries = log().split(/^\s*JIT:/m).length;

      const world = await deliveryWorld({ DATABASE_URL: url, WEBHOOK_FAST_LANE: 'on' });
      const receiver = await startReceiver();
      try {
        const organization = await world.organization();
        await insertDeliveries((text, values) => world.sql(text, values), organization.id, DELIVERIES);
        const endpoint = await world.endpoint(organization, { url: receiver.url });
        // A second attempt is the workflow's.
        receiver.answer(500, 200);
        await world.happen({ organization });
        await world.delivery(endpoint.id, ({ status }) => status === 'success');
        await waitUntil('the plans of all hot statements in the log', async () =>
          Object.values(HOT_STATEMENTS).every((text) => text.test(log())),
        );
        const entries = log().split(/^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] /m);
        const compiled = entries.filter((entry) => /^\s*JIT:/m.test(entry) && !entry.includes('canary'));
        assert.deepEqual(
          compiled.map((entry) => entry.slice(0, 400)),
          [],
        );
        assert.equal(log().split(/^\s*JIT:/m).length, canaries);
      } finally {
        await receiver.close();
        await world.close();
      }
    } finally {
      await server.stop();
    }
  },
);
