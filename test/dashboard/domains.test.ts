import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { recordDomainReport } from '#core/mailboxes/domain-reports.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

test('a domain is added, its records are copied, found, verified, and it is deleted by its name', async () => {
  const { organization } = world;
  const { page, assertNoFaults } = await signedInPage(browser, world.api.url, organization.owner.email, '/domains');
  await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByLabel('Domain', { exact: true }).fill('not a domain');
  await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
  await page.getByRole('dialog').locator('[aria-invalid], [role=alert]').first().waitFor();
  await page.getByLabel('Domain', { exact: true }).fill('mail.customer.example');
  await assertAccessible(page, 'add domain');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'mail.customer.example' }).waitFor();
  await page.getByText('Missing').first().waitFor();
  await assertAccessible(page, 'domain');

  const listed = await world.call('GET', '/api/domains', { as: organization.key });
  const records = at(listed.body, 'data', 0, 'records');
  assert.ok(Array.isArray(records));
  const value = (purpose: string) =>
    textAt(
      records.find((each) => textAt(each, 'purpose') === purpose),
      'value',
    );
  await page.getByRole('button', { name: 'Copy value of the ownership record' }).click();
  await page.getByText('Copied').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), value('ownership'));
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Zone file' }).click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), 'mail.customer.example.zone');
  assert.equal(await readFile(await file.path(), 'utf8'), textAt(listed.body, 'data', 0, 'zoneFile'));

  const [ownership, mailHost] = [value('ownership'), value('mx')];
  const recordsWith = (exchange: string) => [
    { type: 'TXT', name: '_agent-mailbox.mail.customer.example', value: ownership } as const,
    { type: 'MX', name: 'mail.customer.example', value: exchange } as const,
  ];
  world.dns.records = recordsWith('10 elsewhere.example');
  await page.getByRole('button', { name: 'Check now' }).click();
  const mx = page.getByRole('listitem').filter({ hasText: 'Routes its mail here' });
  await mx.getByText('Differs').waitFor();
  await mx.getByText('10 elsewhere.example').waitFor();
  const mailbox = await world.call('POST', '/api/mailboxes', {
    as: organization.key,
    body: { localPart: 'everything' },
  });
  world.dns.records = recordsWith(mailHost);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Verified').waitFor();
  await page.getByText('All required records are set').waitFor();

  const catchAll = () =>
    world
      .call('GET', '/api/domains', { as: organization.key })
      .then(({ body }) => at(body, 'data', 0, 'catchAllMailboxId'));
  await page.getByLabel('Mailbox', { exact: true }).selectOption({ label: textAt(mailbox.body, 'address') });
  await page.getByRole('button', { name: 'Save' }).click();
  await waitUntil('the catch-all', async () => (await catchAll()) === at(mailbox.body, 'id'));
  await page.getByLabel('Mailbox', { exact: true }).selectOption({ label: 'Nobody: such mail is refused' });
  await page.getByRole('button', { name: 'Save' }).click();
  await waitUntil('no catch-all', async () => (await catchAll()) === null);

  await page.getByRole('link', { name: 'Domains' }).first().click();
  const row = page.getByRole('listitem').filter({ hasText: 'mail.customer.example' });
  await row.getByText('all required records found').waitFor();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Mail to unknown addresses' }).waitFor();
  await assertAccessible(page, 'domain with a catch-all');
  await page.getByRole('button', { name: 'Delete' }).click();
  const remove = page.getByRole('button', { name: 'Delete the domain' });
  assert.equal(await remove.isDisabled(), true);
  await page.getByLabel('Type mail.customer.example to confirm').fill('mail.customer.example');
  await remove.click();
  await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
  assertNoFaults([...SIGNED_OUT, 400, 404]);
});

test('the page of a domain checks it again every minute', async () => {
  const made = await world.call('POST', '/api/domains', { as: world.other.key, body: { name: 'again.example' } });
  const { page } = await signedInPage(browser, world.api.url, world.other.owner.email, '/domains');
  await page.clock.install();
  await page.goto(`/domains/${textAt(made.body, 'id')}`);
  await page.getByText('Missing').first().waitFor();
  const asked = page.waitForRequest((request) => request.url().endsWith('/verify'));
  await page.clock.runFor(61_000);
  await asked;
});

/** As a report by mail is recorded (test/mail/domain-reports.test.ts). */
async function reportAbout(domain: string): Promise<void> {
  const to = { organizationId: world.other.id, organizationName: 'Other', suspendedReceive: null };
  const report = {
    kind: 'dmarc',
    ...{ reportId: '1', domain, from: new Date(Date.now() - 86_400_000), until: new Date() },
    sources: [{ address: '198.51.100.7', messages: 10, passed: 7, quarantined: 3, rejected: 0 }],
  } as const;
  const received = { to: { address: `dmarc@${domain}`, ...to }, reporter: 'reporter.example', report };
  await world.services.db.transaction((sql) => recordDomainReport(sql, received, Date.now()));
}

test('a domain that mailboxes use is not deleted, and says so', async () => {
  const { other } = world;
  const made = await world.call('POST', '/api/domains', { as: other.key, body: { name: 'used.example' } });
  const mailbox = await world.call('POST', '/api/mailboxes', { as: other.key, body: { domain: 'used.example' } });
  assert.equal(mailbox.status, 201, mailbox.text);
  const path = `/domains/${textAt(made.body, 'id')}`;
  const { page } = await signedInPage(browser, world.api.url, other.owner.email, path, { phone: true, dark: true });
  await page.getByText('Missing').first().waitFor();
  await page.getByText('No report came yet.').waitFor();
  await reportAbout('used.example');
  await page.reload();
  await page.getByText('7 of 10 messages (70.0 %) passed DMARC, in 1 report of reporter.example.').waitFor();
  const source = page.getByRole('table', { name: 'Where mail came from' }).getByRole('row').nth(1);
  assert.equal(await source.innerText(), '198.51.100.7\t10\t7 (70.0 %)\t3');
  await page.getByText('Missing').first().waitFor();
  await assertAccessible(page, 'domain on a phone, dark');
  const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(wider, 0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel('Type used.example to confirm').fill('used.example');
  await page.getByRole('button', { name: 'Delete the domain' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
});
