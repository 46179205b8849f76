/**
 * `npm run bench:pages`: how long a person waits for the dashboard's lists when there is much in them: first rows, frames
 * while they are scrolled, an answer to a search. Method and figures: `bench/README.md`.
 *
 * Starts the service as `npm start` does, in a temporary folder, and looks at it in Chromium. Its organization has more
 * than anybody looks at: a few mailboxes, deliveries, mails and held messages are made as in use; the others are copies of
 * these rows with ids, times and subjects of their own.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { newId } from '#core/platform/new-id.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { openAs, testBrowser } from '#test/support/browser.ts';
import { copies, copyHeld, insertDeliveries, insertMailboxes } from '#test/support/many-rows.ts';
import { freePorts, startService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { machineAndDatabase } from './machine.ts';
import { ImapClient } from './mail/imap-client.ts';
import { mixedMessage } from './mail/messages.ts';
import { textTable } from './measure.ts';
import { cpuSeconds, machineCpuSeconds } from './processes.ts';

interface FirstRows {
  /** From the request for the document until the list has rows and takes clicks; nothing was cached. */
  readonly coldMs: number;
  /** What all processes of it used for that, the service and the browser. */
  readonly cpuMs: number;
  /** The same with the scripts in the browser's cache, as on every later visit. */
  readonly warmMs: number;
}

interface Scrolled {
  /** Time between two frames. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Last row in the document at the end, counted from the first row of the list. */
  readonly reached: number;
  /** Rows in the document, at most. */
  readonly rowsAtOnce: number;
}

const SCROLLED_MS = 5_000;
const PX_A_FRAME = 300;

const MARKED = `performance.getEntriesByName('rows-shown')[0]?.startTime`;

/** Opens a page and waits for the mark its list sets. */
async function rowsShown(page: Page, address: string, list: string): Promise<number> {
  await page.goto(address);
  await page.getByRole('list', { name: list, exact: true }).getByRole('listitem').first().waitFor();
  return Number(await page.evaluate(MARKED));
}

/** @param newContext signed in, with an empty cache */
async function firstRows(newContext: () => Promise<BrowserContext>, address: string, list: string): Promise<FirstRows> {
  const context = await newContext();
  try {
    const cold = await context.newPage();
    const before = cpuSeconds(process.pid);
    const coldMs = await rowsShown(cold, address, list);
    const cpuMs = (cpuSeconds(process.pid) - before) * 1_000;
    await cold.close();
    const warm = await context.newPage();
    return { coldMs, cpuMs, warmMs: await rowsShown(warm, address, list) };
  } finally {
    await context.close();
  }
}

/** Scrolls a list down, a step a frame; it loads what comes. */
export async function scroll(page: Page, list: string): Promise<Scrolled> {
  const script = `new Promise((resolve) => {
    const list = document.querySelector('ul[aria-label=${JSON.stringify(list)}]');
    let scroller = list.parentElement;
    while (scroller !== null && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
    const target = scroller ?? document.scrollingElement;
    const times = [];
    let rowsAtOnce = 0;
    const begun = performance.now();
    let before = begun;
    const step = (now) => {
      times.push(now - before);
      before = now;
      rowsAtOnce = Math.max(rowsAtOnce, list.childElementCount);
      if (now - begun < ${SCROLLED_MS}) {
        target.scrollBy(0, ${PX_A_FRAME});
        requestAnimationFrame(step);
      } else {
        const sorted = times.slice(1).sort((a, b) => a - b);
        const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
        const reached = Math.max(...[...list.children].map((row) => Number(row.getAttribute('aria-posinset'))));
        resolve({ p50Ms: at(0.5), p99Ms: at(0.99), longestMs: sorted.at(-1), reached, rowsAtOnce });
      }
    };
    requestAnimationFrame(step);
  })`;
  return page.evaluate<Scrolled>(script);
}

/** From the search for some words until a row that has them is shown. */
export async function search(page: Page, field: string, words: string, list: string, found: string): Promise<number> {
  const input = page.getByRole('searchbox', { name: field });
  await input.fill('');
  const waiting = page.evaluate<number>(`new Promise((resolve) => {
    let begun;
    addEventListener('input', () => (begun ??= performance.now()), { capture: true });
    const look = () => {
      const rows = document.querySelectorAll('ul[aria-label=${JSON.stringify(list)}] > li');
      if (begun !== undefined && rows.length > 0 && [...rows].every((row) => row.textContent.includes(${JSON.stringify(found)})))
        resolve(performance.now() - begun);
      else requestAnimationFrame(look);
    };
    look();
  })`);
  await input.fill(words);
  await input.press('Enter');
  return waiting;
}

interface Amounts {
  readonly mailboxes: number;
  readonly deliveries: number;
  readonly messages: number;
  readonly held: number;
}

interface Filled {
  readonly mailboxId: string;
  readonly endpointId: string;
}

/** Messages that are really filed. */
const FILED = 500;
const PORTION = 5_000;
const MINUTE_MS = 60_000;
const QUOTA_BYTES = 1e12;

interface Made {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

async function call(facts: ServiceFacts, path: string, as: Record<string, string>, body: object): Promise<unknown> {
  const answer = await fetch(new URL(path, facts.apiUrl), {
    method: 'POST',
    headers: { ...as, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

export async function fill(
  facts: ServiceFacts,
  db: Database,
  amounts: Amounts,
  say: (text: string) => void,
): Promise<Filled> {
  const { organizationId, imap, apiKey } = facts;
  if (imap === null || apiKey === null) throw new Error('a new service has a key and takes mail');
  await db.query(`update organizations set plan = 'unlimited' where id = $1`, [organizationId]);
  const made = (await call(facts, '/api/mailboxes', { 'x-organization-key': apiKey }, { localPart: 'reader' })) as Made;
  say('mailboxes and deliveries');
  await insertMailboxes(db.query, organizationId, amounts.mailboxes - 1);
  const endpointId = await insertDeliveries(db.query, organizationId, amounts.deliveries);
  say('mail');
  await fileMail(db, { ...made, imap }, amounts.messages);
  say('held messages');
  await holdMail(facts, db, made, amounts.held);
  await db.query('vacuum analyze', []);
  return { mailboxId: made.id, endpointId };
}

async function fileMail(
  db: Database,
  { id, address, token, imap }: Made & { readonly imap: NonNullable<ServiceFacts['imap']> },
  count: number,
): Promise<void> {
  await db.query(`update mailbox_counter set quota_bytes = $2 where mailbox_id = $1`, [id, QUOTA_BYTES]);
  const client = await ImapClient.loggedIn(imap, { address, token });
  for (let at = 0; at < FILED; at += 100)
    await client.command('APPEND INBOX', { literals: Array.from({ length: 100 }, (_, i) => mixedMessage(at + i)) });
  client.close();
  await waitUntil(
    'the texts of the messages',
    async () => {
      const [row] = await db.query<{ texts: number }>(
        `select count(*)::int as texts from message m join message_text t on t.message_id = m.id
         join message_content c on c.message_id = m.id where m.mailbox_id = $1`,
        [id],
      );
      return row?.texts === FILED;
    },
    120_000,
  );
  const [inbox] = await db.query<{ id: string }>(
    `select id::text as id from folder where mailbox_id = $1 and special_use = '\\Inbox'`,
    [id],
  );
  const filed = await db.query<{ message: string; uid: string }>(
    `select p.message_id as message, p.uid::text as uid from placement p where p.folder_id = $1 order by p.uid`,
    [inbox?.id],
  );
  const now = Date.now();
  // An index of words is made at once in a fraction of the time that it takes row by row.
  const [words] = await db.query<{ made: string }>(
    `select pg_get_indexdef('message_text_words'::regclass) as made`,
    [],
  );
  await db.query('drop index message_text_words', []);
  for (let at = FILED; at < count; at += PORTION) {
    const numbers = Array.from({ length: Math.min(PORTION, count - at) }, (_, i) => at + i);
    const times = numbers.map((number) => now - (count - number) * MINUTE_MS);
    await db.transaction(async (sql) => {
      await sql.query(
        `create temp table copied (n int, id text, thread text, at timestamptz, original text, original_uid bigint, uid bigint) on commit drop`,
        [],
      );
      await sql.query(
        `insert into copied select * from unnest($1::int[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::bigint[], $7::bigint[])`,
        [
          numbers,
          times.map((time) => newId('message', time)),
          times.map((time) => newId('thread', time)),
          times.map((time) => new Date(time)),
          numbers.map((number) => filed[number % FILED]?.message),
          numbers.map((number) => filed[number % FILED]?.uid),
          numbers.map((number) => number + 1),
        ],
      );
      const subject = `regexp_replace(x.subject, '\\d+$', '') || n.n`;
      const patches = [
        [
          'message',
          `jsonb_build_object('id', n.id, 'thread_id', n.thread, 'received_at', n.at, 'subject', ${subject})`,
          'x.id = n.original',
        ],
        ['message_text', `jsonb_build_object('message_id', n.id)`, 'x.message_id = n.original'],
        ['message_content', `jsonb_build_object('message_id', n.id)`, 'x.message_id = n.original'],
        [
          'placement',
          `jsonb_build_object('message_id', n.id, 'uid', n.uid, 'internal_date', n.at)`,
          `x.folder_id = ${inbox?.id} and x.uid = n.original_uid`,
        ],
        [
          'placement_state',
          `jsonb_build_object('uid', n.uid)`,
          `x.folder_id = ${inbox?.id} and x.uid = n.original_uid`,
        ],
      ] as const;
      for (const [table, patch, which] of patches) await sql.query(copies(table, 'copied n', which, patch), []);
    });
  }
  await db.query(words?.made ?? '', []);
  await db.query(
    `update folder f set uid_next = $2::int + 1, total = $2::int, unseen = $2::int,
            bytes = (select sum(size) from placement p where p.folder_id = f.id) where id = $1`,
    [inbox?.id, count],
  );
  await db.query(
    `update mailbox_counter c set messages = $2::int, bytes_used = (select sum(size) from message m where m.mailbox_id = c.mailbox_id)
      where mailbox_id = $1`,
    [id, count],
  );
}

async function holdMail(facts: ServiceFacts, db: Database, { token }: Made, count: number): Promise<void> {
  const bearer = { authorization: `Bearer ${token}` };
  const body = { to: ['stranger@outside.example'], subject: 'A first offer', text: 'Could we talk on Thursday?' };
  const held = (await call(facts, '/api/mailbox/messages', bearer, body)) as { consentId: string };
  await copyHeld(db.query, held.consentId, count - 1);
}

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
