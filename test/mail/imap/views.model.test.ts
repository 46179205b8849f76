/**
 * Two or three connections do anything at random on one folder. The view that each client builds from what it is told
 * must equal the store whenever it has just been brought up to date.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ClientView, checkView, randomCommand } from './client-view.ts';
import { loggedIn } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('command' as const), who: fc.nat(2), text: randomCommand }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deliver' as const), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), who: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('synchronize' as const), who: fc.nat(2) }) },
);

test('what each client is told adds up to what is in the store', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('', 'CONDSTORE', 'QRESYNC', 'IMAP4rev2'), { minLength: 2, maxLength: 3 }),
      fc.array(step, { maxLength: 40 }),
      async (modes, steps) => {
        const store = new MemoryStore();
        for (let i = 0; i < 4; i++) store.deliver('INBOX', note(`s${i}`));
        const views: ClientView[] = [];
        for (const mode of modes) {
          const view = new ClientView(await loggedIn(store, { limits: { badCommandsMax: 1_000 } }), mode === 'QRESYNC');
          if (mode !== '') await view.run(`ENABLE ${mode}`);
          await view.run('SELECT INBOX');
          await view.learn();
          views.push(view);
        }
        const check = (view: ClientView) => checkView(view, store, 1);
        for (const each of steps) {
          const view = views[each.who % views.length];
          assert.ok(view !== undefined);
          if (each.kind === 'deliver') store.deliver('INBOX', note('new'));
          else if (each.kind === 'prune') store.prune('INBOX');
          else if (each.kind === 'synchronize') await check(view);
          else {
            await view.run(each.text);
            if (view.messages.some(({ uid }) => uid === undefined)) await view.learn();
          }
        }
        for (const view of views) await check(view);
        for (const { client } of views) await client.close();
        assert.equal(store.watchers, 0);
      },
    ),
    { numRuns: 150 },
  );
});
