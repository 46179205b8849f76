/** The last screen of a start: addresses, credentials, and three commands to try the service. */
import { styleText } from 'node:util';
import { DEFAULT_URL } from '#cli/session.ts';
import type { MailListener, ServiceFacts } from './service-file.ts';

/** Where `npm run receiver` listens. */
export const RECEIVER_PORT = 9443;
const FIRST_MAILBOX = 'hello';

export interface ScreenFacts extends Omit<ServiceFacts, 'settings'> {
  readonly version: string;
  readonly mode: string;
  /** Project folder, in which the commands are run. */
  readonly projectFolder: string;
  /** DATA_DIR as the commands need it; undefined: the default. */
  readonly dataDir: string | undefined;
  readonly serviceFile: string;
  readonly logFile: string;
  readonly mailDomain: string;
  readonly receiverAllowed: boolean;
  /** Things to know, one line each. */
  readonly notes: readonly string[];
}

/** A word for the shell: unchanged if harmless, else in single quotes. */
export const shellWord = (text: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The three commands: create a mailbox, register a webhook and receive it, send a mail. To be run in this order. */
export function firstCommands(facts: ScreenFacts): { title: string; command: string }[] {
  const { apiUrl, apiKey } = facts;
  if (apiKey === null) return [];
  const post = (path: string, body: object) =>
    `curl -sSw '\\n' ${apiUrl}${path} -H ${shellWord(`x-organization-key: ${apiKey}`)} ` +
    `-H 'content-type: application/json' -d ${shellWord(JSON.stringify(body))}`;
  const folder = facts.dataDir === undefined ? '' : `DATA_DIR=${shellWord(facts.dataDir)} `;
  const address = `${FIRST_MAILBOX}@${facts.mailDomain}`;
  return [
    { title: 'Create a mailbox', command: post('/api/mailboxes', { localPart: FIRST_MAILBOX }) },
    {
      title: 'Register a webhook, and start a receiver that verifies each request',
      command: `${post('/api/webhooks', {
        url: `https://localhost:${RECEIVER_PORT}/`,
        eventTypes: ['email_received'],
      })} | ${folder}npm run -s receiver &`,
    },
    { title: 'Send a mail', command: `${folder}npm run -s send-mail -- ${shellWord(address)} 'Hello agent'` },
  ];
}

/** `IMAP localhost:1993 (TLS), localhost:1143 (STARTTLS)`; null if there is no such listener. */
function listeners(
  protocol: string,
  first: MailListener | null,
  second: MailListener | null,
  rest = '',
): string | null {
  const open = [first, second].filter((listener) => listener !== null);
  if (open.length === 0) return null;
  return `${protocol} ${open.map((listener) => `${listener.host}:${listener.port} (${listener.security.toUpperCase()})`).join(', ')}${rest}`;
}

/** The command that logs in to this service, wherever its API listens. */
const loginCommand = (apiUrl: string): string =>
  `npx agent-mailbox login --token=…${apiUrl === DEFAULT_URL ? '' : ` --url=${shellWord(apiUrl)}`}`;

/** @param colour whether it is for a terminal */
export function screen(facts: ScreenFacts, colour: boolean): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const rows: [string, string | null][] = [
    ['API, documents', `${facts.apiUrl}  ${style('dim', `${facts.apiUrl}/docs`)}`],
    ['Sign-in', facts.email],
    ['Password', facts.password],
    ['API key', facts.apiKey],
    ['Incoming mail', listeners('SMTP', facts.smtp, null, `, for …@${facts.mailDomain}`)],
    ['Sending mail', listeners('SMTP', facts.submission, facts.submissionStarttls)],
    ['Reading mail', listeners('IMAP', facts.imap, facts.imapStarttls)],
    ['', listeners('POP3', facts.pop3, facts.pop3Starttls)],
    ['For agents', `MCP ${facts.apiUrl}/mcp  ${style('dim', loginCommand(facts.apiUrl))}`],
    ['Temporal UI', facts.temporalUiUrl],
    ['Root certificate', facts.caFile],
    ['These facts', facts.serviceFile],
    ['Log', facts.logFile],
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const table = rows
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `  ${style('dim', name.padEnd(width))}${value}`);
  const commands = firstCommands(facts);
  const notes = facts.notes.map((note) => `  ${style('yellow', '!')} ${note}`);
  const trial = facts.receiverAllowed
    ? [
        '',
        `  ${style('bold', 'Try it')} in a second terminal, in this order:`,
        '',
        `cd ${shellWord(facts.projectFolder)}`,
        ...commands.flatMap(({ title, command }, index) => [
          '',
          style('dim', `  ${index + 1}  ${title}:`),
          '',
          command,
        ]),
      ]
    : [];
  return [
    '',
    `  ${style(['bold', 'green'], 'Agent Mailbox is running')}  ${style('dim', `${facts.version}, ${facts.mode}`)}`,
    '',
    ...table,
    ...(notes.length > 0 ? ['', ...notes] : []),
    ...(commands.length > 0 ? trial : []),
    '',
    `  ${style('dim', 'Ctrl-C stops everything and keeps the data.')}`,
    '',
  ].join('\n');
}
