/**
 * The form of a line of the mail log: one for each mail transaction and each failed login. Never content, subjects or
 * credentials. The names of the fields are stable; docs/operations/mail-log.md lists them.
 */
import { LOGGED_RECIPIENTS_MAX, LOGGED_TEXT_MAX_CHARACTERS } from '#domain/mail/mail-log.ts';

/** Fields with their meaning, in the order of the line. */
export const MAIL_LINE_FIELDS = {
  mail: '`in`: received by SMTP; `submission`: given to us for sending; `local`: delivered to a mailbox here; `out`: an attempt at one destination; `login`: a failed login; `connection`: a connection above a limit',
  outcome:
    '`accepted`, `held` (for consent), `scheduled`, `delivered`, `sent`, `captured`, `partial`, `deferred` (try again later), `failed` or `refused`',
  listener:
    '`smtp`, `submission`, `api`, `imap`, `pop3`; `sign-in` is the sign-in page; of a connection the name of the port (`imaps`, …)',
  step: 'of a refusal: the SMTP command (`MAIL`, `RCPT`, `DATA`, …), or `greeting`; for REST the operation',
  messages: 'ids of the messages, which are also the ids in the queue of outgoing mail',
  messageId: 'Message-ID of the header',
  mailboxes: 'ids of the mailboxes',
  session: 'id of the session of SMTP, IMAP or POP3; that of SMTP is in the trace field (`Received: … id …`) too',
  request: 'id of the REST request, as the client has it in `X-Request-Id`',
  client: 'address of the client',
  helo: 'name that the client gave itself',
  tls: 'whether the connection was encrypted: its protocol and cipher, or `none`',
  account: 'of a failed login: address, or id of the mailbox, that was asked for',
  from: 'envelope sender; empty for reports',
  to: `envelope recipients, at most ${LOGGED_RECIPIENTS_MAX}; of a refused RCPT the one that was refused`,
  recipients: 'number of envelope recipients',
  size: 'bytes',
  spf: 'result of SPF',
  dkim: 'result of DKIM',
  dmarc: 'result of DMARC',
  destination: 'of an attempt: domain, or host of the relay',
  transport: 'of an attempt: `mx`, `relay` or `capture`',
  attempt: 'number of the attempt at this destination, from 1 on',
  remote: 'name of the other host',
  reply: 'answer: ours to the client, or that of the other host',
  more: 'further refusals of this client in the same minute, which have no line of their own',
} as const;
type Field = keyof typeof MAIL_LINE_FIELDS;

type Kind = 'in' | 'submission' | 'local' | 'out' | 'login' | 'connection';
type MailOutcome =
  | 'accepted'
  | 'held'
  | 'scheduled'
  | 'delivered'
  | 'sent'
  | 'captured'
  | 'partial'
  | 'deferred'
  | 'failed'
  | 'refused';

export interface MailLine
  extends Partial<Record<Exclude<Field, 'mail' | 'outcome'>, string | number | readonly string[] | undefined>> {
  readonly mail: Kind;
  readonly outcome: MailOutcome;
  readonly listener?: string | undefined;
  readonly client?: string | undefined;
  readonly account?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: readonly string[] | undefined;
  readonly messages?: readonly string[] | undefined;
  readonly messageId?: string | undefined;
  readonly session?: string | undefined;
  readonly request?: string | undefined;
}

/** Control characters, and what PostgreSQL cannot store. */
const CONTROLS = /\p{Cc}+/gu;

/** A credential of ours in a field that is for something else, such as a token that was typed as the name of a login. */
const CREDENTIALS = /\b(am[a-z])_[\w-]{16,}/gi;

const bounded = (text: string): string =>
  text
    .replace(CREDENTIALS, '$1_[hidden]')
    .slice(0, LOGGED_TEXT_MAX_CHARACTERS)
    .toWellFormed()
    .replace(CONTROLS, ' ')
    .trim();

/** The line as it is written: fields in their order, texts on one line and bounded, nothing that is not known. */
export function boundedLine(line: MailLine): MailLine {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(MAIL_LINE_FIELDS) as Field[]) {
    const value = name === 'recipients' ? (line.recipients ?? line.to?.length) : line[name];
    if (value === undefined) continue;
    if (typeof value === 'string') fields[name] = bounded(value);
    else fields[name] = typeof value === 'number' ? value : value.slice(0, LOGGED_RECIPIENTS_MAX).map(bounded);
  }
  return { ...fields, mail: line.mail, outcome: line.outcome };
}
