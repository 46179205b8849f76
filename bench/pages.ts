/**
 * `npm run bench:pages`: how long a person waits for the dashboard's lists when there is much in them. Method and
 * figures: `bench/README.md`.
 *
 * Starts the service as `npm start` does, in a temporary folder, fills it and looks at it in Chromium.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { openDatabase } from '#db/database.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { openAs, testBrowser } from '#test/support/browser.ts';
import { freePorts, startService } from '#test/support/started-service.ts';
import { machineAndDatabase } from './machine.ts';
import { type Amounts, fill } from './pages/fill.ts';
import { firstRows, scroll, search } from './pages/measure.ts';
import { cpuSeconds, machineCpuSeconds } from './processes.ts';
import { textTable } from './report.ts';

const say = (text: string) => process.stderr.write(`${text}\n`);
const { values } = parseArgs({
  options: {
    mailboxes: { type: 'string', default: '10000' },
    deliveries: { type: 'string', default: '100000' },
    messages: { type: 'string', default: '50000' },
    held: { type: 'string', default: '2000' },
    repeat: { type: 'string', default: '5' },
  },
});
const amounts: Amounts = {
  mailboxes: Number(values.mailboxes),
  deliveries: Number(values.deliveries),
  messages: Number(values.messages),
  held: Number(values.held),
};
const repeat = Number(values.repeat);

interface List {
  readonly name: string;
  readonly address: string;
  /** Its name for screen readers. */
  readonly label: string;
  /** Field, words, and what each row then holds. */
  readonly search?: readonly [field: string, words: string, found: string];
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
const rounded = (ms: number): string => ms.toFixed(0);

await buildDashboard();
const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-pages-'));
const service = await startService({ ...(await freePorts()), DATA_DIR: folder });
const db = await openDatabase({ url: service.facts.databaseUrl, poolMax: 2 });
const browser = await testBrowser();
try {
  const { apiUrl, email, password } = service.facts;
  if (email === null || password === null) throw new Error('a new service has a first sign-in');
  const { mailboxId, endpointId } = await fill(service.facts, db, amounts, (what) => say(`filling: ${what}`));
  const lists: readonly List[] = [
    {
      name: `${amounts.mailboxes.toLocaleString('en')} mailboxes`,
      address: '/mailboxes',
      label: 'Mailboxes',
      search: ['Search by address or name', 'many-77', 'many-77'],
    },
    {
      name: `${amounts.deliveries.toLocaleString('en')} deliveries of an endpoint`,
      address: `/webhooks/${endpointId}`,
      label: 'Deliveries',
    },
    {
      name: `${amounts.messages.toLocaleString('en')} messages of a mailbox`,
      address: `/mailboxes/${mailboxId}/mail`,
      label: 'Messages',
      search: ['Search mail', 'zanzibar', 'zanzibar'],
    },
    { name: `${amounts.held.toLocaleString('en')} held messages`, address: '/approvals', label: 'Held messages' },
  ];
  const opened = await browser.open(apiUrl);
  await openAs(opened, { email, password }, '/approvals');
  const storageState = await opened.page.context().storageState();
  const newContext = async () => {
    const created = opened.page
      .context()
      .browser()
      ?.newContext({
        baseURL: apiUrl,
        viewport: { width: 1280, height: 800 },
        storageState,
      });
    if (created === undefined) throw new Error('the browser is gone');
    return created;
  };
  await opened.page.close();

  const rows: string[][] = [];
  const [startedAt, own, machine] = [performance.now(), cpuSeconds(process.pid), machineCpuSeconds()];
  for (const { name, address, label, search: searched } of lists) {
    say(name);
    const first = [];
    for (let i = 0; i < repeat; i++) first.push(await firstRows(newContext, address, label));
    const context = await newContext();
    const page: Page = await context.newPage();
    const scrolls = [];
    for (let i = 0; i < repeat; i++) {
      await page.goto(address);
      await page.getByRole('list', { name: label, exact: true }).getByRole('listitem').first().waitFor();
      scrolls.push(await scroll(page, label));
    }
    const searches = [];
    if (searched !== undefined)
      for (let i = 0; i < repeat; i++) {
        await page.goto(address);
        await page.getByRole('list', { name: label, exact: true }).getByRole('listitem').first().waitFor();
        const [field, words, found] = searched;
        searches.push(await search(page, field, words, label, found));
      }
    await context.close();
    rows.push([
      name,
      rounded(median(first.map(({ coldMs }) => coldMs))),
      rounded(median(first.map(({ cpuMs }) => cpuMs))),
      rounded(median(first.map(({ warmMs }) => warmMs))),
      rounded(median(scrolls.map(({ p50Ms }) => p50Ms))),
      rounded(median(scrolls.map(({ p99Ms }) => p99Ms))),
      rounded(median(scrolls.map(({ longestMs }) => longestMs))),
      rounded(median(scrolls.map(({ reached }) => reached))),
      String(Math.max(...scrolls.map(({ rowsAtOnce }) => rowsAtOnce))),
      searches.length === 0 ? '–' : rounded(median(searches)),
    ]);
  }
  const heads = [
    `median of ${repeat}`,
    'first load, ms',
    'its CPU, ms',
    'later load, ms',
    'frame p50, ms',
    'frame p99, ms',
    'longest, ms',
    'rows passed in 5 s',
    'rows at once',
    'search, ms',
  ];
  const others = machineCpuSeconds() - machine - (cpuSeconds(process.pid) - own);
  const ratio = Math.max(0, others / (((performance.now() - startedAt) / 1_000) * os.availableParallelism()));
  console.log(
    `${textTable([heads, ...rows])}\n\n${(await machineAndDatabase(db)).join('; ')}; machine used by others ${(ratio * 100).toFixed(0)} %`,
  );
} finally {
  await browser.close();
  await db.close();
  await service.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
