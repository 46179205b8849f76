/** `webhooks verify`. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { print } from '#cli/output.ts';
import type { GlobalOptions } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import { verifyWebhook, WebhookVerificationError } from '#client/index.ts';

interface VerifyOptions extends GlobalOptions {
  readonly key?: string[];
  readonly at?: string;
}

/** @throws {CommandError} */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError('unreadable_file', `${file} cannot be read: ${String(error)}`, 'Give another file.');
  }
}

/** Lines `Name: value`, as servers log them; other lines do not count. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );

/** @throws {CommandError} */
function timeOf(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new CommandError('invalid_time', `${text} is not a time.`, 'Give it as 2026-01-02T03:04:05Z.');
}

/** It asks no service, so it needs no login. */
export function addVerifyCommand(webhooks: Command): void {
  webhooks
    .command('verify')
    .description(
      'Verify a request that your server kept, and show its event. Exit code 1: the endpoint did not send it',
    )
    .argument('<headers>', 'file with the headers, one in a line')
    .argument('<body>', 'file with the body, byte by byte')
    .option(
      '--key <key...>',
      'whsec_… or whpk_…, several during a rotation; default: WEBHOOK_SECRET, which ps does not show',
    )
    .option('--at <time>', 'when it was received, ISO 8601; default: now')
    .action(async (headers: string, body: string, _, command: Command) => {
      const options = command.optsWithGlobals<VerifyOptions>();
      const keys = options.key ?? [process.env['WEBHOOK_SECRET'] ?? ''];
      const now = options.at === undefined ? {} : { now: timeOf(options.at) };
      try {
        const event = await verifyWebhook(headersOf(bytesOf(headers).toString('latin1')), bytesOf(body), keys, now);
        print(options, event, () => `Verified: ${safeLine(event.type)}  ${safeLine(event.id)}`);
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        const fix =
          error.code === 'wrong_time'
            ? 'For an earlier request, say when it was received: --at.'
            : 'Compare the endpoint (agent-mailbox webhooks list), its secret, and the bytes of the body.';
        throw new CommandError(error.code, error.message, fix, EXIT.failed);
      }
    });
}
