/** The API, its pages and the inbound listener over one database, and a browser that is signed in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD } from '#test/support/api-world.ts';
import { type OpenedPage, openAs, type PageOptions, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';

export interface ReaderWorld {
  readonly api: ApiWorld;
  readonly browser: TestBrowser;
  /** Brings a mail to the mailbox as another host would. @returns its reply, 250 or a refusal */
  deliver(message: string | Buffer, from?: string): Promise<string>;
  /** Submits a message by SMTP as the mailbox. @returns the reply, 250 or a refusal */
  submit(message: string, to: readonly string[]): Promise<string>;
  /** The reader of the mailbox. @param search of its address, e.g. `?open=msg_…` */
  openReader(search?: string, options?: PageOptions): Promise<OpenedPage>;
  close(): Promise<void>;
}

export async function readerWorld(settings: Readonly<Record<string, string>> = {}): Promise<ReaderWorld> {
  await buildDashboard();
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'reader-test-'));
  const [api, browser] = await Promise.all([apiWorld({ DATA_DIR: dataFolder, ...settings }), testBrowser()]);
  const mail = await startMail(api.services, { lookup: dnsStub() });
  const { mailbox, owner } = api.organization;
  return {
    api,
    browser,
    async deliver(message, from = 'ann@example.com') {
      const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
      try {
        return await client.send(from, [mailbox.address], message);
      } finally {
        client.close();
      }
    },
    async submit(message, to) {
      const token = String(mailbox.token['authorization']).replace(/^Bearer /, '');
      const client = await logIn(mail.submissionStarttls, { address: mailbox.address, token });
      try {
        return await client.send(mailbox.address, to, message);
      } finally {
        client.close();
      }
    },
    async openReader(search = '', options = {}) {
      const opened = await browser.open(api.api.url, options);
      const person = { email: owner.email, password: TEST_PASSWORD };
      await openAs(opened, person, `/mailboxes/${mailbox.id}/mail${search}`);
      await opened.page.getByRole('search').waitFor();
      return opened;
    },
    async close() {
      await browser.close();
      await mail.close();
      await api.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
