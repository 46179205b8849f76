/** A message as REST describes it, composed into bytes. */

import { addressesOfText, type MailAddress } from '@agent-mailbox/mime-structure/addresses';
import MailComposer from 'nodemailer/lib/mail-composer';
import { CatalogueError, type ErrorDetail } from '#domain/errors.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';

export interface Composition {
  readonly from: MailAddress;
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly bcc: readonly MailAddress[];
  readonly replyTo: readonly MailAddress[];
  readonly subject: string;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly ComposedAttachment[];
  readonly headers: Readonly<Record<string, string>>;
  /** Message-IDs with brackets. */
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
  /** Time of its Date; default: now. */
  readonly date?: Date;
  /** With brackets; default: a new one. */
  readonly messageId?: string;
  /** The bytes contain Bcc: a draft, which reaches nobody. */
  readonly keepBcc?: true;
}

export interface ComposedAttachment {
  readonly filename: string | undefined;
  readonly contentType: string;
  readonly content: Buffer;
  readonly contentId: string | undefined;
}

/** Header fields a caller may not set: they are ours, or would say something else than the envelope. */
const OWN_FIELD =
  /^(?:from|sender|author|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|references|mime-version|content-.*|received|return-path|dkim-signature|authentication-results|arc-.*|resent-.*)$/i;
/** Whether a header field is made by the service itself with each message. */
export const isOwnField = (name: string): boolean => OWN_FIELD.test(name);
const FIELD_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,75}$/;
const FIELD_VALUE_MAX = 900;

/** @throws {CatalogueError} invalid_request for header fields that are not the caller's to set */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const details = Object.entries(headers).flatMap(([name, value]): ErrorDetail[] => {
    const path = `/headers/${name}`;
    if (!FIELD_NAME.test(name)) return [{ path, message: 'is not a valid header field name' }];
    if (OWN_FIELD.test(name)) return [{ path, message: 'is set by the service' }];
    if (value.length > FIELD_VALUE_MAX || /\p{Cc}/u.test(value))
      return [{ path, message: `must have at most ${FIELD_VALUE_MAX} characters, none of them a control character` }];
    return [];
  });
  if (details.length > 0) throw new CatalogueError('invalid_request', undefined, { details });
}

/**
 * Reads addresses given as `a@b.c` or `Name <a@b.c>`, one in each text; a single one without a list.
 *
 * @param path their position in the request, e.g. `/to`
 * @throws {CatalogueError} invalid_request with each invalid address
 */
export function readAddresses(given: string | readonly string[], path: string): MailAddress[] {
  const details: ErrorDetail[] = [];
  const addresses = (typeof given === 'string' ? [given] : given).flatMap((text, i) => {
    const found = addressesOfText(text);
    const [only] = found;
    if (/\p{Cc}/u.test(text) || found.length !== 1 || only === undefined || !isEmailAddress(only.address)) {
      const place = typeof given === 'string' ? path : `${path}/${i}`;
      details.push({ path: place, message: 'must be one address, such as a@b.c or Name <a@b.c>' });
      return [];
    }
    return [only];
  });
  if (details.length > 0) throw new CatalogueError('invalid_request', undefined, { details });
  return addresses;
}

/**
 * All recipients of a message, each once, ignoring case.
 *
 * @throws {CatalogueError} invalid_request without a recipient or with too many
 */
export function envelopeRecipients(lists: readonly (readonly MailAddress[])[]): string[] {
  const seen = new Map<string, string>();
  for (const { address } of lists.flat())
    if (!seen.has(address.toLowerCase())) seen.set(address.toLowerCase(), address);
  const problem =
    seen.size === 0
      ? 'to, cc or bcc must contain a recipient'
      : seen.size > RECIPIENTS_PER_MESSAGE_MAX
        ? `to, cc and bcc contain at most ${RECIPIENTS_PER_MESSAGE_MAX} recipients together`
        : undefined;
  if (problem !== undefined)
    throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/to', message: problem }] });
  return [...seen.values()];
}

/** Bytes with CRLF line ends; only those of a draft contain Bcc. */
export async function composeMessage(message: Composition): Promise<Buffer> {
  const addresses = (list: readonly MailAddress[]) => list.map(({ name, address }) => ({ name, address }));
  const composer = new MailComposer({
    from: { name: message.from.name, address: message.from.address },
    to: addresses(message.to),
    cc: addresses(message.cc),
    ...(message.keepBcc ? { bcc: addresses(message.bcc) } : {}),
    ...(message.date === undefined ? {} : { date: message.date }),
    ...(message.messageId === undefined ? {} : { messageId: message.messageId }),
    replyTo: addresses(message.replyTo),
    subject: message.subject,
    ...(message.text === undefined && message.html !== undefined ? {} : { text: message.text ?? '' }),
    ...(message.html === undefined ? {} : { html: message.html }),
    ...(message.inReplyTo === undefined ? {} : { inReplyTo: message.inReplyTo }),
    references: [...message.references],
    headers: { ...message.headers },
    attachments: message.attachments.map(({ filename, contentType, content, contentId }) => ({
      filename: filename ?? false,
      contentType,
      content,
      ...(contentId === undefined ? {} : { cid: contentId }),
    })),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const node = composer.compile();
  node.keepBcc = message.keepBcc === true;
  return node.build();
}
