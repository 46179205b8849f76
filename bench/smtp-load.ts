/**
 * Load on the inbound SMTP listener: some connections, each sending its next message when the last one was answered, or
 * ending after some messages, with a new one in its place.
 */
import { randomBytes } from 'node:crypto';
import { SmtpClient } from '#test/support/smtp-client.ts';

export interface SmtpLoad {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly messages: number;
  /** A connection ends after so many messages, and the next one begins; default: all of them over the same ones. */
  readonly messagesPerConnection?: number;
  /** Used in turn, one per message. */
  readonly recipients: readonly string[];
  /** Size of a message in bytes, header included. */
  readonly messageBytes: number;
  readonly from?: string;
  readonly subject?: (message: number) => string;
  /** Called with the place of a message before its MAIL. */
  readonly onSent?: (message: number) => void;
  /** Called with the index of a message when its 250 has arrived. */
  readonly onAccepted?: (message: number) => void;
}

export interface SmtpLoadResult {
  readonly accepted: number;
  /** Replies other than 250, with how often they came. */
  readonly refused: ReadonlyMap<string, number>;
  readonly seconds: number;
  readonly perSecond: number;
  /** From MAIL to the reply of DATA, ascending; of the first message of a new connection from its first packet on. */
  readonly latenciesMs: readonly number[];
}

async function openClient({ host, port }: SmtpLoad): Promise<SmtpClient> {
  const client = await SmtpClient.open(host, port);
  client.socket.setNoDelay(true);
  await client.command('EHLO load.test');
  return client;
}

/** Pipelined (RFC 2920): three commands at once, then the message. @returns the reply of DATA, or a refusal */
async function send(client: SmtpClient, from: string, to: string, message: string): Promise<string> {
  client.socket.write(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
  const replies = [await client.reply(), await client.reply(), await client.reply()];
  const refusal = replies.find((reply) => !/^[23]/.test(reply));
  if (refusal === undefined) return client.command(`${message}.`);
  await client.command('RSET');
  return refusal;
}

const LINE = `${'The quick brown fox jumps over the lazy dog near the old mill. '.repeat(1).slice(0, 70)}\r\n`;

function messageOf(load: SmtpLoad, from: string, to: string, number: number): string {
  const header =
    `Date: ${new Date().toUTCString()}\r\nFrom: Load Maker <${from}>\r\nTo: <${to}>\r\n` +
    `Subject: ${load.subject?.(number) ?? `Message ${number}`}\r\nMessage-ID: <${randomBytes(12).toString('hex')}@load.test>\r\n` +
    'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n';
  return header + LINE.repeat(Math.max(1, Math.round((load.messageBytes - header.length) / LINE.length)));
}

export async function smtpLoad(load: SmtpLoad): Promise<SmtpLoadResult> {
  const from = load.from ?? 'load@sender.test';
  const clients = await Promise.all(Array.from({ length: load.connections }, () => openClient(load)));
  const latenciesMs: number[] = [];
  const refused = new Map<string, number>();
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (first) => {
      let [client, sent] = [first, 0];
      while (next < load.messages) {
        const number = next++;
        const to = load.recipients[number % load.recipients.length] ?? '';
        const message = messageOf(load, from, to, number);
        load.onSent?.(number);
        const sentAt = performance.now();
        if (sent === load.messagesPerConnection) {
          client.socket.end('QUIT\r\n');
          [client, sent] = [await openClient(load), 0];
        }
        sent++;
        const reply = await send(client, from, to, message);
        if (reply.startsWith('250')) {
          latenciesMs.push(performance.now() - sentAt);
          load.onAccepted?.(number);
        } else refused.set(reply, (refused.get(reply) ?? 0) + 1);
        if (reply.startsWith('000') || reply.startsWith('421')) return;
      }
      client.socket.end('QUIT\r\n');
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    accepted: latenciesMs.length,
    refused,
    seconds,
    perSecond: latenciesMs.length / seconds,
    latenciesMs: latenciesMs.sort((a, b) => a - b),
  };
}
