/** An organization that could be real: mailboxes, mail in and out, messages that wait for a person. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';

export interface ScreenshotData {
  readonly mailboxId: string;
  /** A received message that was answered. */
  readonly messageId: string;
}

interface Made {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

const MAILBOXES = [
  ['orders', 'Order desk', 'Answers questions about orders and invoices.'],
  ['billing', 'Billing', 'Sends invoices and reminders, once a month.'],
  ['research', 'Research assistant', 'Asks suppliers for prices and delivery times.'],
  ['meetings', 'Meetings', 'Finds a time with people outside and sends the invitation.'],
  ['digest', 'Newsletter digest', 'Reads newsletters and sums them up. Sends nothing.'],
  ['codes', 'Sign-ups', 'Receives one-time codes of services the agents use.'],
] as const;

const INVOICE = '%PDF-1.4\n% An invoice for the picture.\n';

/** Fills a new service. */
export async function fillForScreenshots(facts: ServiceFacts): Promise<ScreenshotData> {
  const { apiUrl, apiKey, smtp, caFile } = facts;
  assert.ok(apiKey !== null && smtp !== null && caFile !== null, 'a new service has a key and takes mail');
  const call = async (method: string, path: string, as: Record<string, string>, body?: object): Promise<unknown> => {
    const answer = await fetch(new URL(path, apiUrl), {
      method,
      headers: { ...as, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const key = { 'x-organization-key': apiKey };
  const receiver = (await call('POST', '/api/receiver', key)) as { url: string };
  await call('POST', '/api/webhooks', key, { url: receiver.url, eventTypes: ['email_received', 'email_sent'] });
  await call('POST', '/api/webhooks', key, {
    // Nothing listens here, so that there is a failure to show.
    url: 'https://localhost:9/hooks/orders',
    eventTypes: ['email_received'],
  });
  await call('POST', '/api/domains', key, { name: 'agents.acme.example' });
  const made: Made[] = [];
  for (const [localPart, name, purpose] of MAILBOXES.toReversed())
    made.unshift((await call('POST', '/api/mailboxes', key, { localPart, name, purpose })) as Made);
  const [support, billing, research, meetings, newsletter, signUps] = made;
  assert.ok(support && billing && research && meetings && newsletter && signUps);
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    requireTLS: true,
    tls: { ca: readFileSync(caFile) },
  });
  const arrive = (mailbox: Made, mail: SendMailOptions) => transport.sendMail({ to: mailbox.address, ...mail });
  await arrive(newsletter, {
    from: 'The Ledger <news@ledger.example>',
    subject: 'Five charts about freight prices',
    text: 'Freight prices fell for the third month in a row. Five charts say why.\n',
  });
  await arrive(signUps, {
    from: 'Parcel Post <no-reply@parcelpost.example>',
    subject: '481 920 is your sign-in code',
    text: 'Your sign-in code is 481 920. It is valid for ten minutes.\n',
  });
  await arrive(support, {
    from: 'Mara Lindqvist <mara@northwind.example>',
    subject: 'Where is order 2208?',
    text: 'Hello,\n\nthe parcel should have been here on Tuesday. Can you find out where it is?\n\nMara\n',
  });
  await arrive(support, {
    from: 'Zed Okafor <zed@acme.example>',
    messageId: '<invoice-4411@acme.example>',
    subject: 'Invoice 4411',
    text: 'Hello,\n\ninvoice 4411 lists the delivery of 12 November twice. Could you send us a corrected one before Friday?\n\nBest regards,\nZed Okafor\nAcme Ltd.\n',
  });
  transport.close();
  const hold = async (mailbox: Made, body: object) =>
    call('POST', '/api/mailbox/messages', { authorization: `Bearer ${mailbox.token}` }, body);
  await hold(meetings, {
    to: ['Ines Duarte <ines@duarte-legal.example>'],
    subject: 'A time for the contract review',
    text: 'Dear Ms Duarte,\n\nwould Thursday at 10:00 or Friday at 14:00 suit you?\n\nBest regards',
  });
  await hold(research, {
    to: ['sales@bolts-and-beams.example'],
    cc: ['quotes@bolts-and-beams.example'],
    subject: 'Price for 2,000 M8 bolts, zinc plated',
    text: 'Hello,\n\nplease send us your price for 2,000 M8 bolts, and when you could deliver them.\n',
  });
  const inbox = (await call('GET', '/api/mailbox/messages', { authorization: `Bearer ${support.token}` })) as {
    data: readonly { id: string; subject: string }[];
  };
  const asked = inbox.data.find(({ subject }) => subject === 'Invoice 4411');
  assert.ok(asked);
  await call(
    'POST',
    `/api/mailbox/messages/${asked.id}/reply`,
    { authorization: `Bearer ${support.token}` },
    {
      text: 'Dear Mr Okafor,\n\nyou are right: the delivery of 12 November is in the invoice twice. The corrected invoice is attached; the amount is now 1,240.50 EUR.\n\nWe are sorry for the trouble.\n\nBest regards,\nOrder desk',
      attachments: [
        {
          filename: 'invoice-4411-corrected.pdf',
          contentType: 'application/pdf',
          contentBase64: Buffer.from(INVOICE.padEnd(84_000, '%')).toString('base64'),
        },
      ],
    },
  );
  return { mailboxId: support.id, messageId: asked.id };
}
