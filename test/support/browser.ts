/**
 * A real Chromium for the tests of the dashboard. A page fails its test without an assertion: on an error on the
 * console, an exception, or a request to another host.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type Cookie, chromium, type Page, type Request } from 'playwright-core';
import { kept } from './kept.ts';
import { programFile } from './programs.ts';
import { waitUntil } from './wait-until.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface OpenedPage {
  readonly page: Page;
  /** What the page must not have done until now. Statuses of answers that a test expects are named. */
  assertNoFaults(expectedStatuses?: readonly number[], expected?: RegExp): void;
}

export interface PageOptions {
  readonly phone?: boolean;
  readonly dark?: boolean;
  readonly scripts?: boolean;
  /** In the browser that shows PDF: a page costs it twice as much as the headless shell. */
  readonly viewers?: boolean;
}

export interface TestBrowser {
  /** A page with its own cookies and storage. */
  open(origin: string, options?: PageOptions): Promise<OpenedPage>;
  close(): Promise<void>;
}

/** Sessions of people who signed in, by their email, which is of one person in all worlds. */
const sessions = new Map<string, readonly Cookie[]>();

/**
 * Opens a page of the dashboard as somebody, who signs in through the form once in a process: later pages begin with
 * that session, as in a browser that was closed and opened again. If it has ended since, or is of another address, the
 * form is there again. The first look at the session may answer 401.
 */
export async function openAs(
  { page }: Pick<OpenedPage, 'page'>,
  { email, password }: { readonly email: string; readonly password: string },
  to: string,
): Promise<void> {
  const known = sessions.get(email);
  if (known !== undefined) await page.context().addCookies([...known]);
  await page.goto(to);
  const signIn = page.getByRole('button', { name: 'Sign in' });
  const navigation = page.getByRole('navigation', { name: 'Pages' }).first();
  await signIn.or(navigation).first().waitFor();
  if (!(await signIn.isVisible())) return;
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await signIn.click();
  await navigation.waitFor();
  sessions.set(email, await page.context().cookies());
}

/** Fails when the page is wider than its window, so that a person would have to scroll sideways. */
export async function assertFitsWindow(page: Page, what: string): Promise<void> {
  const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.ok(Number(wider) <= 0, `${what} scrolls sideways by ${String(wider)} px`);
}

interface Running {
  readonly requests: Set<Request>;
  /** When one began or ended last. */
  changedAt: number;
}

const runningRequests = new WeakMap<Page, Running>();
/** Like playwright's `networkidle`, which never occurs while a page follows a stream. */
const IDLE_MS = 500;
const WITHIN_MS = 60_000;

/** Waits until a page has its answers; streams of changes, which have no end, do not count. */
export async function requestsEnded(page: Page): Promise<void> {
  await waitUntil('the requests of the page to end', () => {
    const running = runningRequests.get(page);
    return running !== undefined && running.requests.size === 0 && performance.now() > running.changedAt + IDLE_MS;
  });
}

/** One for all files of a process; each page has a context of its own. */
const keptProgram = (withViewers: boolean) =>
  kept(
    (): Promise<Browser> =>
      chromium.launch({
        executablePath: programFile(withViewers ? 'chromium' : 'chromium or its headless shell'),
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      }),
    (browser) => browser.close(),
  );
const keptBrowser = keptProgram(true);
const keptShell = keptProgram(false);

/** The headless shell, where it is installed; for pages with viewers the whole browser. */
export async function testBrowser(): Promise<TestBrowser> {
  await keptShell();
  const contexts: BrowserContext[] = [];
  return {
    async open(origin, { phone = false, dark = false, scripts = true, viewers = false } = {}) {
      const browser = await (viewers ? keptBrowser() : keptShell());
      const context = await browser.newContext({
        baseURL: origin,
        viewport: phone ? { width: 360, height: 740 } : { width: 1280, height: 800 },
        colorScheme: dark ? 'dark' : 'light',
        javaScriptEnabled: scripts,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      contexts.push(context);
      // A busy machine is slow, which is no fault of a page.
      context.setDefaultTimeout(WITHIN_MS);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
          faults.push(`console: ${message.text()} ${message.location().url}`);
      });
      page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
      const running: Running = { requests: new Set(), changedAt: performance.now() };
      runningRequests.set(page, running);
      const onEnd = (request: Request) => {
        if (running.requests.delete(request)) running.changedAt = performance.now();
      };
      page.on('requestfinished', onEnd);
      page.on('requestfailed', onEnd);
      page.on('request', (request) => {
        if (!request.url().endsWith('/events/stream')) {
          running.requests.add(request);
          running.changedAt = performance.now();
        }
        if (new URL(request.url()).origin !== origin && !/^(?:data|blob):/.test(request.url()))
          faults.push(`request to ${request.url()}`);
      });
      return {
        page,
        assertNoFaults(expectedStatuses = [], expected) {
          const unexpected = faults.filter(
            (fault) =>
              expected?.test(fault) !== true &&
              !expectedStatuses.some((status) => fault.includes(`status of ${status} `)),
          );
          assert.deepEqual(unexpected, []);
        },
      };
    },
    async close() {
      for (const context of contexts) await context.close();
    },
  };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/**
 * Fails if axe finds something serious or critical on the current page.
 *
 * @param known rules of axe that a component of a library does not keep
 */
export async function assertAccessible(page: Page, what: string, known: readonly string[] = []): Promise<void> {
  // Through the debugger: the page's own policy lets no script in.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource);
  // What passes is neither collected nor brought here.
  const violations = await page.evaluate<AxeResult['violations']>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  const serious = violations
    .filter(({ id, impact }) => (impact === 'serious' || impact === 'critical') && !known.includes(id))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  assert.deepEqual(serious, [], what);
}
