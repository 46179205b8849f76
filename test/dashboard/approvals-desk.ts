/** What tests of the approvals page do, in a world and a browser of their file. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type ApiWorld, TEST_PASSWORD, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { type OpenedPage, openAs, type PageOptions, type TestBrowser } from '#test/support/browser.ts';

/** The 401 of the first look at the session. */
export const SIGNED_OUT = 401;

export const request = (page: Page) => page.getByRole('article', { name: 'Held message' });

/** Waits until the message that is shown takes decisions. */
export const settled = (page: Page) => request(page).getByRole('button', { name: 'Approve' }).click({ trial: true });

/** @param desk asked at each call: the file opens it before its first test */
export const approvalsDesk = (desk: () => { readonly world: ApiWorld; readonly browser: TestBrowser }) => ({
  /** The page, for the owner. */
  async opened({ owner }: TestOrganization, to = '/approvals', options: PageOptions = {}): Promise<OpenedPage> {
    const { world, browser } = desk();
    const page = await browser.open(world.api.url, options);
    await openAs(page, { email: owner.email, password: TEST_PASSWORD }, to);
    return page;
  },
  /** Sends as the agent to somebody unknown. @returns the id of the request */
  async hold({ mailbox }: TestOrganization, body: Record<string, unknown>): Promise<string> {
    const answer = await desk().world.call('POST', '/api/mailbox/messages', { as: mailbox.token, body });
    assert.equal(answer.status, 202, answer.text);
    return textAt(answer.body, 'consentId');
  },
  consentOf: async ({ owner }: TestOrganization, id: string): Promise<unknown> =>
    (await desk().world.call('GET', `/api/consents/${id}`, { as: owner.session })).body,
});
