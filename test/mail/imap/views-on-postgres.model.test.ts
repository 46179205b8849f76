/** The model test of clients' views, on the real store. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { openStoreWorld } from '../store/store-world.ts';
import { ClientView, checkView, randomCommand } from './client-view.ts';
import { loggedIn } from './dialogue.ts';
import { note } from './messages.ts';

const world = await openStoreWorld();
after(() => world.close());

const mail = (subject: string): string => note(subject).replaceAll('\n', '\r\n');

const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('command' as const), who: fc.nat(2), text: randomCommand }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deliver' as const), who: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('synchronize' as const), who: fc.nat(2) }) },
);

test('what each client is told adds up to what is in PostgreSQL', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('', 'CONDSTORE', 'QRESYNC', 'IMAP4rev2'), { minLength: 2, maxLength: 3 }),
      fc.array(step, { minLength: 5, maxLength: 25 }),
      async (modes, steps) => {
        const mailbox = await world.newMailbox();
        for (let i = 0; i < 3; i++) await world.deliver(mailbox, mail(`s${i}`));
        const views: ClientView[] = [];
        try {
          for (const mode of modes) {
            const client = await loggedIn(mailbox.store, { limits: { badCommandsMax: 1_000 } });
            const view = new ClientView(client, mode === 'QRESYNC');
            views.push(view);
            if (mode !== '') await view.run(`ENABLE ${mode}`);
            await view.run('SELECT INBOX');
            await view.learn();
          }
          for (const each of steps) {
            const view = views[each.who % views.length];
            assert.ok(view !== undefined);
            if (each.kind === 'deliver') await world.deliver(mailbox, mail('new'));
            else if (each.kind === 'synchronize') await checkView(view, mailbox.store, mailbox.inbox.id);
            else {
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
    { numRuns: 40 },
  );
  assert.deepEqual(await world.faults(), []);
});
