/**
 * Pictures of the dashboard for the documents: starts a separate service with realistic data, and writes
 * `docs/screenshots/<page>-<light|dark>.png`.
 *
 *   npm run screenshots
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OpenedPage, openAs, testBrowser } from '#test/support/browser.ts';
import { freePorts, startService } from '#test/support/started-service.ts';
import { fillForScreenshots } from './screenshot-data.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../docs/screenshots', import.meta.url));
const SIZE_MAX_BYTES = 150 * 1_024;

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Resolves when the page shows the subject of the picture. */
  readonly shown: (opened: OpenedPage) => Promise<unknown>;
}

const dataDir = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-screenshots-'));
const service = await startService({ ...(await freePorts()), DATA_DIR: dataDir });
const browser = await testBrowser();
try {
  const { apiUrl, email, password } = service.facts;
  assert.ok(email !== null && password !== null, 'a new service has a first sign-in');
  const data = await fillForScreenshots(service.facts);
  const shots: readonly Shot[] = [
    {
      name: 'approvals',
      path: '/approvals',
      shown: ({ page }) =>
        // It takes decisions a moment after it is shown.
        page
          .getByRole('article', { name: 'Held message' })
          .getByRole('button', { name: 'Approve' })
          .click({ trial: true }),
    },
    {
      name: 'mailboxes',
      path: '/mailboxes',
      shown: ({ page }) => page.getByRole('list', { name: 'Mailboxes' }).getByRole('listitem').nth(3).waitFor(),
    },
    {
      name: 'reader',
      path: `/mailboxes/${data.mailboxId}/mail?open=${data.messageId}`,
      shown: ({ page }) => page.getByText('lists the delivery of 12 November twice').last().waitFor(),
    },
    {
      name: 'activity',
      path: `/activity?q=${data.messageId}`,
      shown: ({ page }) => page.getByText('email_received').first().waitFor(),
    },
    {
      name: 'webhooks',
      path: '/webhooks',
      shown: ({ page }) => page.getByText('/hooks/orders').first().waitFor(),
    },
    {
      name: 'domains',
      path: '/domains',
      shown: ({ page }) => page.getByText('agents.acme.example').first().waitFor(),
    },
    {
      name: 'mailbox',
      path: `/mailboxes/${data.mailboxId}?tab=connect`,
      shown: ({ page }) => page.getByRole('tab', { name: 'TypeScript' }).click(),
    },
  ];
  mkdirSync(folder, { recursive: true });
  for (const theme of ['light', 'dark'] as const) {
    const opened = await browser.open(apiUrl, { dark: theme === 'dark', viewers: true });
    const { page } = opened;
    await openAs(opened, { email, password }, '/approvals');
    for (const { name, path: address, shown } of shots) {
      await page.goto(address);
      await shown(opened);
      const file = path.join(folder, `${name}-${theme}.png`);
      await page.screenshot({ path: file, animations: 'disabled' });
      const { size } = statSync(file);
      assert.ok(size <= SIZE_MAX_BYTES, `${file} has ${size} bytes`);
      process.stdout.write(`${path.relative(process.cwd(), file)}  ${Math.round(size / 1_024)} kB\n`);
    }
  }
} finally {
  await browser.close();
  await service.end('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
}
