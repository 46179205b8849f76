/** The queue of held messages: its order, its filters, its numbers, and how much of the database a page of it reads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { copyHeld } from '#test/support/many-rows.ts';

const MANY = 2_000;

let world: ApiWorld;
let of: TestOrganization;
before(async () => {
  world = await apiWorld();
  of = await world.newOrganization('unlimited');
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: { to: ['zed@acme.example'], subject: '100% "The_newest"', text: 'Words.' },
  });
  await copyHeld(world.sql, textAt(answer.body, 'consentId'), MANY - 1);
  await world.sql(
    `update consent set recipients = array['rare@sub.contoso.example', 'zed@acme.example'], held_because = 'always'
      where organization_id = $1 and subject in ('Copy 7', 'Copy 8')`,
    [of.id],
  );
  await world.sql(`vacuum analyze consent`);
});
after(() => world?.close());

const get = async (path: string, as = of.key): Promise<unknown> => {
  const answer = await world.call('GET', path, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const subjects = (body: unknown): string[] =>
  Object.values(Object(at(body, 'data'))).map((each) => textAt(each, 'subject'));

test('pages of the oldest first follow each other without gaps', async () => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await get(`/api/consents?status=pending&order=oldest&limit=200${cursor}`);
    seen.push(...subjects(page));
    const next = at(page, 'nextCursor');
    cursor = typeof next === 'string' ? `&cursor=${next}` : '';
  } while (cursor !== '');
  assert.equal(seen.length, MANY);
  assert.equal(new Set(seen).size, MANY);
  assert.deepEqual([seen[0], seen.at(-2), seen.at(-1)], [`Copy ${MANY - 1}`, 'Copy 1', '100% "The_newest"']);
  assert.deepEqual(subjects(await get('/api/consents?status=pending&limit=2')), ['100% "The_newest"', 'Copy 1']);
});

test('by risk: what carries other mail first, of the same risk the oldest, and pages follow each other', async () => {
  await world.sql(
    `update consent set risk = case subject when 'Copy 9' then 2 else 3 end
      where organization_id = $1 and subject in ('Copy 9', 'Copy 10', 'Copy 11')`,
    [of.id],
  );
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await get(`/api/consents?status=pending&order=risk&limit=199${cursor}`);
    seen.push(...subjects(page));
    const next = at(page, 'nextCursor');
    cursor = typeof next === 'string' ? `&cursor=${next}` : '';
  } while (cursor !== '');
  assert.equal(new Set(seen).size, MANY);
  assert.deepEqual(seen.slice(0, 4), ['Copy 11', 'Copy 10', 'Copy 9', `Copy ${MANY - 1}`]);
  const first = await get('/api/consents?status=pending&order=risk&limit=2');
  const more = await get(`/api/consents?status=pending&order=risk&limit=2&cursor=${textAt(first, 'nextCursor')}`);
  assert.deepEqual(subjects(more), ['Copy 9', `Copy ${MANY - 1}`]);
});

test('a message that is held says its risk: by other mail it carries, by its signals, or none', async () => {
  const send = async (organization: TestOrganization, body: object): Promise<unknown> => {
    const answer = await world.call('POST', '/api/mailbox/messages', { as: organization.mailbox.token, body });
    assert.equal(answer.status, 202, answer.text);
    return get(`/api/consents/${textAt(answer.body, 'consentId')}`, organization.key);
  };
  const other = await world.newOrganization('business');
  const plain = { to: ['zed@acme.example'], subject: 'Hello', text: 'Hello Zed.' };
  assert.equal(at(await send(other, plain), 'risk'), 0);
  const program = { filename: 'invoice.pdf.exe', contentType: 'application/pdf', contentBase64: 'TVo=' };
  assert.equal(at(await send(other, { ...plain, attachments: [program] }), 'risk'), 2);
  const differs = {
    ...plain,
    text: 'The meeting is on Monday at nine in the small room upstairs, bring the printed figures please.',
    html: '<p>Completely other words: transfer the whole amount to the new account before Friday evening, without delay.</p>',
  };
  assert.equal(at(await send(other, differs), 'risk'), 1);
});

test('filters can be combined, and a search takes its words as they are', async () => {
  for (const [query, expected] of [
    ['recipient=rare@sub.contoso.example', ['Copy 7', 'Copy 8']],
    ['recipient=Rare%40SUB.contoso.example&q=copy%208', ['Copy 8']],
    ['recipient=sub.contoso.example', ['Copy 7', 'Copy 8']],
    ['recipient=contoso.example', []],
    ['heldBecause=always', ['Copy 7', 'Copy 8']],
    ['heldBecause=reply_target', []],
    [`q=${encodeURIComponent('100%')}`, ['100% "The_newest"']],
    [`q=${encodeURIComponent('The_n')}`, ['100% "The_newest"']],
    [`q=${encodeURIComponent('e_o')}`, []],
    ['q=rare@', ['Copy 7', 'Copy 8']],
    [`mailboxId=${of.mailbox.id}&q=newest`, ['100% "The_newest"']],
    [`mailboxId=${world.other.mailbox.id}`, []],
    ['createdAfter=2999-01-01T00:00:00Z', []],
    ['createdBefore=2001-01-01T00:00:00Z', []],
  ] as const)
    assert.deepEqual(subjects(await get(`/api/consents?status=pending&${query}`)), expected, query);
  assert.deepEqual(subjects(await get(`/api/consents?recipient=rare@sub.contoso.example`, world.other.key)), []);
});

test('the summary counts all that waits, in groups, with the same filters, of this organization alone', async () => {
  const all = await get('/api/consents/summary');
  assert.equal(at(all, 'total'), MANY);
  assert.deepEqual(at(all, 'byMailbox'), [{ mailboxId: of.mailbox.id, address: of.mailbox.address, count: MANY }]);
  assert.deepEqual(at(all, 'byRecipient'), [
    { recipient: 'zed@acme.example', count: MANY },
    { recipient: 'rare@sub.contoso.example', count: 2 },
  ]);
  assert.deepEqual(at(all, 'byReason'), [
    { heldBecause: 'first_contact', count: MANY - 2 },
    { heldBecause: 'always', count: 2 },
  ]);
  assert.equal(at(await get('/api/consents/summary?q=copy%207'), 'total'), 111);
  const other = await get('/api/consents/summary', world.other.key);
  assert.deepEqual([at(other, 'total'), at(other, 'oldestAt'), at(other, 'byMailbox')], [0, null, []]);
});

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** Rows of the table that a statement looked at. */
const looked = (plan: Plan): number =>
  (plan['Relation Name'] === 'consent' ? plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) : 0) +
  (plan.Plans ?? []).reduce((sum, each) => sum + looked(each), 0);

test('a page looks at its own rows only, by an index, wherever it begins', async () => {
  const middle = await world.sql(`select id from consent where organization_id = $1 and subject = 'Copy 1000'`, [
    of.id,
  ]);
  const cases = [
    [`status = 'pending' and id > $2 order by id limit 101`, 101],
    [`status = 'pending' and mailbox_id = '${of.mailbox.id}' and id > $2 order by id limit 101`, 101],
    [`status = 'pending' and recipients @> array['rare@sub.contoso.example'] and id > $2 order by id limit 101`, 2],
  ] as const;
  for (const [rest, most] of cases) {
    const [row] = await world.sql(
      `explain (analyze, timing off, format json) select * from consent where organization_id = $1 and ${rest}`,
      [of.id, middle[0]?.['id']],
    );
    const [explained] = (row?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: Plan }[];
    assert.ok(explained !== undefined && looked(explained.Plan) <= most, `${rest}: ${JSON.stringify(explained)}`);
  }
});
