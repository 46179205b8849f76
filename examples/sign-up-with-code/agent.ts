/**
 * An agent that signs up at a site with a code:
 *
 *   AGENT_MAILBOX_TOKEN=amt_… node examples/sign-up-with-code/agent.ts http://127.0.0.1:7080
 *
 * AGENT_MAILBOX_URL: address of the service, http://127.0.0.1:8080 by default.
 */
import { MailboxClient } from '@agent-mailbox/client';

const SENDER = 'accounts@site.example';
const WAIT_AT_MOST_MS = 180_000;
const ONE_REQUEST_SECONDS = 60;

const site = process.argv[2];
const token = process.env['AGENT_MAILBOX_TOKEN'];
if (site === undefined || token === undefined) {
  console.error('Usage: AGENT_MAILBOX_TOKEN=amt_… node examples/sign-up-with-code/agent.ts <address of the site>');
  process.exit(2);
}

const mailbox = new MailboxClient({ url: process.env['AGENT_MAILBOX_URL'] ?? 'http://127.0.0.1:8080', token });
const { address } = await mailbox.mailbox();

/** Fills in a form of the site. */
async function submit(path: string, form: Record<string, string>): Promise<void> {
  const response = await fetch(new URL(path, site), { method: 'POST', body: new URLSearchParams(form) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
}

/** The code in the next mail of the sender after a message of the mailbox, or after the beginning. */
async function nextCode(last: string | undefined): Promise<string> {
  const endsAt = Date.now() + WAIT_AT_MOST_MS;
  let place = last === undefined ? { since: new Date(0).toISOString() } : { after: last };
  while (Date.now() < endsAt) {
    const { data, after } = await mailbox.waitForMessages({
      ...place,
      from: SENDER,
      extract: 'otp',
      timeoutSeconds: ONE_REQUEST_SECONDS,
    });
    const code = data.find(({ otp }) => otp !== null)?.otp;
    if (code !== undefined && code !== null) return code;
    place = { after };
  }
  throw new Error('no mail with a code arrived');
}

// Before the site sends anything: a code that is older belongs to another sign-up.
const [newest] = (await mailbox.listMessages({ limit: 1 })).data;
await submit('/sign-up', { email: address });
console.log(`${address}: waiting for the code`);
await submit('/confirm', { email: address, code: await nextCode(newest?.id) });
console.log(`Signed up as ${address}`);
