/** The page of an endpoint with 100,000 deliveries: what the document holds, and what the service takes for it. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD } from '#test/support/api-world.ts';
import { type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const DELIVERIES = 100_000;
/** Rows of three windows: what is seen, and as much around it. */
const ROWS_MAX = 60;
const SCROLLS = 100;

let world: ApiWorld;
let browser: TestBrowser;
let endpointId: string;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
  endpointId = await insertDeliveries(world.sql, world.organization.id, DELIVERIES);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

/** Says how long the service took, the median of several. */
async function timed(t: TestContext, what: string, path: string): Promise<unknown> {
  const times: number[] = [];
  let body: unknown;
  for (let i = 0; i < 7; i++) {
    const begun = performance.now();
    const answer = await world.call('GET', path, { as: world.organization.key });
    times.push(performance.now() - begun);
    assert.equal(answer.status, 200, answer.text);
    ({ body } = answer);
  }
  t.diagnostic(`${what}: ${times.toSorted((a, b) => a - b)[3]?.toFixed(0)} ms`);
  return body;
}

test('counts, filters and pages of 100,000 deliveries are answered by the service', async (t) => {
  const path = `/api/webhooks/${endpointId}`;
  assert.equal(at(await timed(t, 'hours by outcome', `${path}/stats?hours=25`), 'total', 'exhausted'), 2_000);
  assert.equal(at(await timed(t, 'the endpoint', path), 'stats', 'last24h', 'success'), 98_000);
  for (const [what, query, total] of [
    ['first page', '', DELIVERIES],
    ['given-up ones', '&status=exhausted', 2_000],
    ['by a response code nobody sent', '&responseCode=418', 0],
    ['by reason and type', '&reason=attempts_exhausted&eventType=email_sent', undefined],
    ['page at offset 90,000', '&offset=90000', DELIVERIES],
  ] as const) {
    const body = await timed(t, what, `${path}/deliveries?limit=50${query}`);
    if (total !== undefined) assert.equal(at(body, 'total'), total, what);
  }
});

test('the document holds the rows near the window, however far one scrolls', async (t) => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto(`/webhooks/${endpointId}`);
  await page.getByLabel('Email').fill(world.organization.owner.email);
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
  await rows.first().waitFor();
  await page.getByText('100,000 in 30 days').waitFor();
  const lastPosition = async () => Number(await rows.last().getAttribute('aria-posinset'));
  let most = 0;
  const begun = performance.now();
  for (let i = 0; i < SCROLLS; i++) {
    const before = await lastPosition();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await waitUntil('further rows', async () => (await lastPosition()) > before);
    most = Math.max(most, await rows.count());
  }
  const seconds = (performance.now() - begun) / 1_000;
  const reached = await lastPosition();
  t.diagnostic(
    `${reached} rows in ${SCROLLS} scrolls to the end, ${seconds.toFixed(1)} s; at most ${most} in the document`,
  );
  assert.ok(reached >= SCROLLS * 20, `${reached} rows`);
  assert.ok(most > 0 && most <= ROWS_MAX, `${most} rows in the document`);
  assert.equal(await rows.first().getAttribute('aria-setsize'), String(DELIVERIES));
  await page.evaluate('scrollTo(0, 0)');
  await waitUntil('the first row', async () => (await rows.first().getAttribute('aria-posinset')) === '1');
  assertNoFaults([401]);
});
