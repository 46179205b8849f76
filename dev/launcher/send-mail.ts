/**
 * Sends a mail to a mailbox of a started service by SMTP, as another mail server would: with STARTTLS, certificate
 * checked.
 *
 *   npm run -s send-mail -- hello@agents.localhost 'Subject' 'Text'
 *
 * Options: --from, --host and --port (default: those of the service started on DATA_DIR).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createTransport } from 'nodemailer';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import type { ServiceFacts } from './service-file.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: 'Ada Example <ada@example.org>' },
    host: { type: 'string' },
    port: { type: 'string' },
  },
});
const [to, subject = 'Hello', body = 'A first mail.\n'] = positionals;

function fail(message: string): never {
  process.stderr.write(`send-mail: ${message}\n`);
  process.exit(1);
}

if (to === undefined) fail("no recipient. Usage: npm run -s send-mail -- hello@agents.localhost 'Subject' 'Text'");
const file = path.resolve(process.env['DATA_DIR'] || SETTINGS.DATA_DIR.fallback, 'service.json');
const facts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ServiceFacts) : undefined;
const host = values.host ?? facts?.smtp?.host;
const port = Number(values.port ?? facts?.smtp?.port);
if (host === undefined || !port)
  fail(`no service is running on ${path.dirname(file)}. Start it with \`npm start\`, or give --host and --port.`);

const transport = createTransport({
  host,
  port,
  requireTLS: true,
  tls: facts?.caFile ? { ca: readFileSync(facts.caFile) } : { rejectUnauthorized: values.host === undefined },
});
try {
  const { response } = await transport.sendMail({ from: values.from, to, subject, text: body });
  process.stdout.write(`Sent to ${to}: ${response}\n`);
} catch (error) {
  fail(`${host}:${port} did not accept it: ${error instanceof Error ? error.message : error}`);
} finally {
  transport.close();
}
