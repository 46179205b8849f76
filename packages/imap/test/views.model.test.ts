/**
 * Two or three connections do anything at random on one folder. The view that each client builds from its responses
 * must equal the store whenever it is up to date.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ClientView, checkView, MODES, randomCommand } from './client-view.ts';
import { type Client, loggedIn } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

/** More for a hunt: `TEST_MODEL_RUNS=5000 npm test -- test/mail/imap/views.model.test.ts`. */
const RUNS = Number(process.env['TEST_MODEL_RUNS'] ?? 200);

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('command' as const), who: fc.nat(2), text: randomCommand }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deliver' as const), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), who: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('synchronize' as const), who: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reselect' as const),
      who: fc.nat(2),
      how: fc.constantFrom('CLOSE' as const, 'UNSELECT' as const, 'lost line' as const),
    }),
  },
);

test('the responses to each client add up to the state in the store', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...MODES), { minLength: 2, maxLength: 3 }),
      fc.array(step, { maxLength: 50 }),
      async (modes, steps) => {
        const store = new MemoryStore();
        for (let i = 0; i < 4; i++) store.deliver('INBOX', note(`s${i}`));
        const connect = () => loggedIn(store, { limits: { badCommandsMax: 1_000 } });
        const views: ClientView<Client>[] = [];
        for (const mode of modes) views.push(await ClientView.open(await connect(), mode));
        const check = (view: ClientView<Client>) => checkView(view, store, 1);
        for (const each of steps) {
          const view = views[each.who % views.length];
          assert.ok(view !== undefined);
          if (each.kind === 'deliver') store.deliver('INBOX', note('new'));
          else if (each.kind === 'prune') store.prune('INBOX');
          else if (each.kind === 'synchronize') await check(view);
          else if (each.kind === 'reselect') {
            const old = view.client;
            await view.reselect(each.how === 'lost line' ? await connect() : each.how);
            if (each.how === 'lost line') await old.close();
            await check(view);
          } else {
            await view.run(each.text);
            if (view.messages.some(({ uid }) => uid === undefined)) await view.learn();
          }
        }
        for (const view of views) await check(view);
        for (const { client } of views) await client.close();
        assert.equal(store.watchers, 0);
      },
    ),
    { numRuns: RUNS },
  );
});
