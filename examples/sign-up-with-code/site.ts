/**
 * A site that checks the address of a new account by a code:
 *
 *   SMTP=127.0.0.1:2525 node examples/sign-up-with-code/site.ts
 *
 * SMTP: where mail for the mailboxes is received. PORT: 7080 by default, 0 for any.
 *
 * POST /sign-up with `email` mails a code, POST /confirm with `email` and `code` opens the account.
 */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';

const SENDER = 'Example Site <accounts@site.example>';
const CODE_DIGITS = 6;
const TRIES = 3;

const [host = '127.0.0.1', smtpPort = '2525'] = (process.env['SMTP'] ?? '').split(':').filter(Boolean);
// As between most mail servers: encrypted where it is offered, whatever the certificate says.
const mail = createTransport({ host, port: Number(smtpPort), tls: { rejectUnauthorized: false } });
const waiting = new Map<string, { readonly code: string; triesLeft: number }>();

async function signUp(email: string): Promise<number> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
  waiting.set(email, { code, triesLeft: TRIES });
  await mail.sendMail({
    from: SENDER,
    to: email,
    subject: 'Confirm your address',
    text: `Hello,\n\nyour verification code is ${code}. Enter it to open your account at Example Site.\n`,
  });
  return 202;
}

function confirm(email: string, code: string): number {
  const account = waiting.get(email);
  if (account === undefined) return 404;
  if (code.length === account.code.length && timingSafeEqual(Buffer.from(code), Buffer.from(account.code))) {
    waiting.delete(email);
    console.log(`${email} has an account`);
    return 200;
  }
  account.triesLeft--;
  if (account.triesLeft === 0) waiting.delete(email);
  return 403;
}

const server = createServer(async (request, response) => {
  try {
    const form = new URLSearchParams(await text(request));
    const email = form.get('email') ?? '';
    let status = 404;
    if (request.method === 'POST' && request.url === '/sign-up') status = await signUp(email);
    if (request.method === 'POST' && request.url === '/confirm') status = confirm(email, form.get('code') ?? '');
    response.writeHead(status).end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(Number(process.env['PORT'] ?? 7080), '127.0.0.1', () => {
  console.log(`Example Site: http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
