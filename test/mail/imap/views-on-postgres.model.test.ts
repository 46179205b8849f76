/** The model test of clients' views, on the real store. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { ClientView, checkView, MODES, randomCommand } from '#packages/imap/test/client-view.ts';
import { type Client, loggedIn } from '#packages/imap/test/dialogue.ts';
import { note } from '#packages/imap/test/messages.ts';
import { openStoreWorld } from '#test/support/store-world.ts';

const world = await openStoreWorld();
after(() => world.close());

const mail = (subject: string): string => note(subject).replaceAll('\n', '\r\n');

/** More for a hunt: `TEST_MODEL_RUNS=500 npm test -- test/mail/imap/views-on-postgres.model.test.ts`. */
const RUNS = Number(process.env['TEST_MODEL_RUNS'] ?? 40);

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('command' as const), who: fc.nat(2), text: randomCommand }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deliver' as const), who: fc.nat(2) }) },
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

test('the responses to each client add up to the state in PostgreSQL', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...MODES), { minLength: 2, maxLength: 3 }),
      fc.array(step, { minLength: 5, maxLength: 25 }),
      async (modes, steps) => {
        const mailbox = await world.newMailbox();
        for (let i = 0; i < 3; i++) await world.deliver(mailbox, mail(`s${i}`));
        const views: ClientView<Client>[] = [];
        const connect = () => loggedIn(mailbox.store, { limits: { badCommandsMax: 1_000 } });
        try {
          for (const mode of modes) views.push(await ClientView.open(await connect(), mode));
          for (const each of steps) {
            const view = views[each.who % views.length];
            assert.ok(view !== undefined);
            if (each.kind === 'deliver') await world.deliver(mailbox, mail('new'));
            else if (each.kind === 'synchronize') await checkView(view, mailbox.store, mailbox.inbox.id);
            else if (each.kind === 'reselect') {
              const old = view.client;
              await view.reselect(each.how === 'lost line' ? await connect() : each.how);
              if (each.how === 'lost line') await old.close();
              await checkView(view, mailbox.store, mailbox.inbox.id);
            } else {
              await view.run(each.text);
              if (view.messages.some(({ uid }) => uid === undefined)) await view.learn();
            }
          }
          for (const view of views) await checkView(view, mailbox.store, mailbox.inbox.id);
        } finally {
          for (const { client } of views) await client.close();
        }
      },
    ),
    { numRuns: RUNS },
  );
  assert.deepEqual(await world.faults(), []);
});
