/** A page of the dashboard behind its sign-in. */
import { TEST_PASSWORD } from './api-world.ts';
import { type OpenedPage, openAs, type TestBrowser } from './browser.ts';

/** Statuses of answers that every test of a signed-in page meets: the first look at the session. */
export const SIGNED_OUT = [401];

/** Opens a page as somebody. @param origin of the service */
export async function signedInPage(
  browser: TestBrowser,
  origin: string,
  email: string,
  to: string,
  options: { readonly phone?: boolean; readonly dark?: boolean } = {},
): Promise<OpenedPage> {
  const opened = await browser.open(origin, options);
  const { page } = opened;
  await openAs(opened, { email, password: TEST_PASSWORD }, to);
  await page.getByRole('heading', { level: 1 }).and(page.locator('main#content h1')).waitFor();
  return opened;
}
