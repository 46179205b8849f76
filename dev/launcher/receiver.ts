/**
 * A customer's server for trying webhooks: HTTPS with the development certificate; verifies every request with the
 * `standardwebhooks` package, as a customer would, and prints it.
 *
 *   curl … /api/webhooks … | npm run -s receiver        reads the answer to the registration, with the secret, from
 * stdin
 *   npm run -s receiver -- --secret whsec_…             or WEBHOOK_SECRET in the environment
 *
 * Options: --port (9443), --secret. Several secrets, separated by commas, serve several endpoints.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs, styleText } from 'node:util';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { RECEIVER_PORT } from './screen.ts';

const BODY_MAX_BYTES = 1024 * 1024;
const say = (line: string) => process.stdout.write(`${line}\n`);

function fail(message: string): never {
  process.stderr.write(`receiver: ${message}\n`);
  process.exit(1);
}

/** The secret in the answer of `POST /api/webhooks`. */
function secretOfAnswer(answer: string): string {
  let parsed: { secret?: string; url?: string; error?: { message?: string; fix?: string } };
  try {
    parsed = JSON.parse(answer) as typeof parsed;
  } catch {
    return fail(`standard input is not the answer of POST /api/webhooks: ${answer.slice(0, 200) || '(empty)'}`);
  }
  if (parsed.error) fail(`the registration was refused: ${parsed.error.message ?? ''} ${parsed.error.fix ?? ''}`);
  if (!parsed.secret) return fail('the answer on standard input contains no secret');
  say(`Registered ${parsed.url ?? 'the endpoint'}.`);
  return parsed.secret;
}

const { values } = parseArgs({
  options: { port: { type: 'string', default: String(RECEIVER_PORT) }, secret: { type: 'string' } },
});
const given = values.secret ?? process.env['WEBHOOK_SECRET'];
if (given === undefined && process.stdin.isTTY)
  fail('give the secret with --secret whsec_… or WEBHOOK_SECRET, or pipe in the answer of POST /api/webhooks');
const verifiers = (given ?? secretOfAnswer(await text(process.stdin)))
  .split(',')
  .map((secret) => new Webhook(secret.trim()));

const tlsFolder = path.resolve(process.env['DATA_DIR'] || SETTINGS.DATA_DIR.fallback, 'tls');
function readTls(): { cert: Buffer; key: Buffer } {
  try {
    return {
      cert: readFileSync(path.join(tlsFolder, 'host.pem')),
      key: readFileSync(path.join(tlsFolder, 'host.key')),
    };
  } catch {
    return fail(
      `there is no development certificate in ${tlsFolder}. Run \`npm start\` first (with the same DATA_DIR).`,
    );
  }
}

/** The event, if one of the secrets signed exactly these bytes within the tolerance of five minutes. */
function verify(body: string, headers: Record<string, string>): unknown {
  let fault: unknown;
  for (const verifier of verifiers) {
    try {
      return verifier.verify(body, headers);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

const tls = readTls();
const handled = new Set<string>();
const server = (): Server =>
  createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_MAX_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const one = (name: string) => String(request.headers[name] ?? '');
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
      const headers = Object.fromEntries(names.map((name) => [name, one(name)]));
      try {
        const event = verify(Buffer.concat(chunks).toString('utf8'), headers);
        const again = handled.has(one('webhook-id'));
        handled.add(one('webhook-id'));
        const title = `✓ verified webhook ${one('webhook-id')}${again ? ' (a repetition)' : ''}`;
        say(`\n${styleText('green', title)}\n${JSON.stringify(event, null, 2)}`);
        response.writeHead(204).end();
      } catch (error) {
        const reason = error instanceof WebhookVerificationError ? error.message : String(error);
        say(`\n${styleText('red', `✗ refused ${one('webhook-id') || 'a request'}: ${reason}`)}`);
        say('  It was not signed with this secret. Does an older endpoint with the same address still exist?');
        response.writeHead(401).end();
      }
    });
  });

const port = Number(values.port);
let listening = 0;
// `localhost` may be either, and the sender uses the address from the resolver.
for (const host of ['127.0.0.1', '::1']) {
  const each = server();
  each.listen(port, host);
  try {
    await once(each, 'listening');
    listening++;
  } catch (error) {
    if (host === '127.0.0.1')
      fail(`cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : error}`);
  }
}
if (listening > 0)
  say(`Receiving at https://localhost:${port}/ (process ${process.pid}; end it with: kill ${process.pid})`);
