import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ContentQuery } from '@agent-mailbox/mail-store';
import { letter, openStoreWorld, type StoreMailbox, type StoreWorld, spooled } from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const encodedSubject = `=?utf-8?B?${Buffer.from('Grüße aus Köln').toString('base64')}?=`;
const MESSAGES = [
  letter(
    'Order 4711',
    'X-Tag: Blue\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\n',
    'Please send 100% of it_now\\then.\r\n',
  ),
  letter(
    encodedSubject,
    'Cc: "Doe, John" <john@x.test>\r\nDate: Sat, 21 Nov 2026 23:30:00 -0500\r\n',
    'ÄRGER mit Straße\r\n',
  ),
  letter(
    'html only',
    'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n',
    '<p>Hidden=20<b>Treasure</b> caf=C3=A9</p>\r\n',
  ),
  letter('no date, blue sky', '', 'nothing\r\n'),
  letter('large', '', `${'filler line of words\r\n'.repeat(60_000)}needle at the end\r\n`),
];

describe('search over content', () => {
  let world: StoreWorld;
  let mailbox: StoreMailbox;
  before(async () => {
    world = await openStoreWorld();
    mailbox = await world.newMailbox();
    await mailbox.store.append(
      mailbox.inbox.id,
      MESSAGES.map((text, i) => spooled(text, { internalDate: new Date(Date.UTC(2026, 10, 10 + i, 12)) })),
    );
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  const all = Uint32Array.of(1, 2, 3, 4, 5);
  const find = async (query: ContentQuery, uids = all) => [
    ...(await mailbox.store.search(mailbox.inbox.id, uids, query)),
  ];
  const day = (n: number) => Date.UTC(2026, 10, n);

  /** The same must come out of the bytes and of the filled texts. */
  const cases: readonly (readonly [string, ContentQuery, readonly number[]])[] = [
    ['a substring of the text, without case', { kind: 'body', text: 'LEASE SEN' }, [1]],
    ['characters that patterns would read', { kind: 'body', text: '100% of it_now\\' }, [1]],
    ['no pattern', { kind: 'body', text: '100_ of' }, []],
    ['letters beyond ASCII, without case', { kind: 'body', text: 'ärger' }, [2]],
    ['text of HTML, decoded, without its tags', { kind: 'body', text: 'hidden treasure CAFÉ' }, [3]],
    ['no tag', { kind: 'body', text: '<b>' }, []],
    ['what stands beyond the first MiB', { kind: 'body', text: 'Needle at the end' }, [5]],
    ['not the header by BODY', { kind: 'body', text: 'order 4711' }, []],
    ['the header by TEXT', { kind: 'text', text: 'ORDER 4711' }, [1]],
    ['the body by TEXT', { kind: 'text', text: 'treasure' }, [3]],
    ['a decoded subject', { kind: 'header', field: 'subject', text: 'GRÜSSE AUS KÖLN'.replace('SS', 'ß') }, [2]],
    ['a field by substring', { kind: 'header', field: 'x-tag', text: 'blu' }, [1]],
    ['only the field asked for', { kind: 'header', field: 'subject', text: 'blue' }, [4]],
    ['the whole of an address field', { kind: 'header', field: 'cc', text: '"Doe, John" <JOHN@' }, [2]],
    ['presence of a field', { kind: 'header', field: 'X-Tag', text: '' }, [1]],
    ['no field whose name only ends so', { kind: 'header', field: 'tag', text: '' }, []],
    ['everything by an empty text', { kind: 'text', text: '' }, [1, 2, 3, 4, 5]],
    ['days of arrival', { kind: 'internal-day', from: day(11), before: day(13) }, [2, 3]],
    ['open ends', { kind: 'internal-day', from: day(13), before: null }, [4, 5]],
    ['days of the Date header; without one, none', { kind: 'sent-date', from: null, before: day(21) }, [1]],
    [
      'the day that stands in the Date header, whatever its zone',
      { kind: 'sent-date', from: day(21), before: day(22) },
      [2],
    ],
    ['sizes', { kind: 'larger', bytes: 100_000 }, [5]],
    ['sizes below', { kind: 'smaller', bytes: 100_000 }, [1, 2, 3, 4]],
    ['UIDs', { kind: 'uids', uids: [2, 4, 9] }, [2, 4]],
    [
      'AND, OR and NOT in each other',
      {
        kind: 'and',
        of: [
          { kind: 'not', of: { kind: 'body', text: 'treasure' } },
          {
            kind: 'or',
            of: [
              { kind: 'text', text: 'blue' },
              { kind: 'larger', bytes: 100_000 },
            ],
          },
          { kind: 'not', of: { kind: 'uids', uids: [4] } },
        ],
      },
      [1, 5],
    ],
    [
      'everything by AND of nothing, nothing by OR of nothing',
      { kind: 'not', of: { kind: 'or', of: [] } },
      [1, 2, 3, 4, 5],
    ],
  ];

  it('reads the bytes of messages whose text is not filled in', async () => {
    await world.sql(`delete from message_text`);
    for (const [what, query, expected] of cases) assert.deepEqual(await find(query), expected, what);
  });

  it('finds the same in filled texts', async () => {
    // The filler took them at the append, or takes them at the next sweep; here the former is undone, so deliver anew.
    mailbox = await world.newMailbox();
    await mailbox.store.append(
      mailbox.inbox.id,
      MESSAGES.map((text, i) => spooled(text, { internalDate: new Date(Date.UTC(2026, 10, 10 + i, 12)) })),
    );
    await waitUntil('the texts', async () => {
      const rows = await world.sql(
        `select 1 from message_text t join message m on m.id = t.message_id where m.mailbox_id = $1`,
        [mailbox.id],
      );
      return rows.length >= 4;
    });
    for (const [what, query, expected] of cases) assert.deepEqual(await find(query), expected, what);
  });

  it('looks only at the UIDs it is given, and knows messages and threads by their ids', async () => {
    assert.deepEqual(await find({ kind: 'text', text: '' }, Uint32Array.of(4, 2)), [2, 4]);
    const [row] = await world.sql<{ message_id: string; thread_id: string }>(
      `select p.message_id, m.thread_id from placement p join message m on m.id = p.message_id
        where p.folder_id = $1 and uid = 3`,
      [mailbox.inbox.id],
    );
    assert.deepEqual(await find({ kind: 'message-id', id: row?.message_id ?? '' }), [3]);
    assert.deepEqual(await find({ kind: 'thread-id', id: row?.thread_id ?? '' }), [3]);
  });
});
