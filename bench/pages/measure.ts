/** What a person waits for on a page: its first rows, frames while it is scrolled, an answer to a search. */
import type { BrowserContext, Page } from 'playwright-core';
import { cpuSeconds } from '#bench/processes.ts';

export interface FirstRows {
  /** From the request for the document until the list has rows and takes clicks; nothing was cached. */
  readonly coldMs: number;
  /** What all processes of it used for that, the service and the browser. */
  readonly cpuMs: number;
  /** The same with the scripts in the browser's cache, as on every later visit. */
  readonly warmMs: number;
}

export interface Scrolled {
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
export async function firstRows(
  newContext: () => Promise<BrowserContext>,
  address: string,
  list: string,
): Promise<FirstRows> {
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
