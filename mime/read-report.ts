/** Reports that programs make about mail: delivery status (RFC 3464, 6533) and abuse (RFC 5965). Pure. */

import { findBodyStart, firstValue, type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { oneLine } from '#domain/mail/text-forms.ts';

/** One recipient of a delivery status notification. */
interface ReportedRecipient {
  /** Original-Recipient and Final-Recipient, in lower case; those that are there. */
  readonly addresses: readonly string[];
  /** Lower-cased: failed, delayed, delivered, relayed, expanded. */
  readonly action: string;
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  /** What the other side said, on one line. */
  readonly reply: string;
  /** Name of the host that answered, or else of the one that reports; empty: it names none. */
  readonly remoteMta: string;
}

export type MailReport =
  | { readonly kind: 'status'; readonly recipients: readonly ReportedRecipient[] }
  /** `addresses`: Original-Rcpt-To, in lower case; often left out. */
  | { readonly kind: 'feedback'; readonly type: string; readonly addresses: readonly string[] };

export const RECIPIENTS_READ_MAX = 1_000;

/** Undefined: it is no such report. */
export function readReport(bytes: Uint8Array): MailReport | undefined {
  const root = indexMessage(bytes);
  if (root.type !== 'multipart' || root.subtype !== 'report') return undefined;
  for (const { part } of leaves(root)) {
    if (part.type !== 'message') continue;
    if (part.subtype === 'delivery-status' || part.subtype === 'global-delivery-status')
      return { kind: 'status', recipients: statusOf(blocksOf(bytes, part)) };
    if (part.subtype === 'feedback-report') return feedbackOf(blocksOf(bytes, part)[0] ?? []);
  }
  return undefined;
}

/** Groups of fields, with empty lines between. */
function blocksOf(bytes: Uint8Array, part: PartNode): HeaderField[][] {
  const body = decodeTransfer(bytes.subarray(part.body, part.end), part.encoding);
  const blocks: HeaderField[][] = [];
  for (let at = 0; at < body.length && blocks.length < RECIPIENTS_READ_MAX; ) {
    const next = findBodyStart(body, at, body.length);
    const fields = headerFields(body, at, next);
    if (fields.length > 0) blocks.push(fields);
    at = next;
  }
  return blocks;
}

/** A character of a `utf-8` address where only ASCII may be (RFC 6533 §3). */
const UTF8_SIGN = /\\x\{((?:10|[0-9a-f])?[0-9a-f]{1,4})\}/gi;

/** `rfc822; <user@example.com>`: the type is left out where people forget it. */
const addressOf = (value: string | undefined): string[] => {
  const address = (value ?? '')
    .replace(/^[\w-]+\s*;/, '')
    .trim()
    .replace(/^<|>$/g, '')
    .replace(UTF8_SIGN, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .toLowerCase();
  return address === '' ? [] : [address];
};

function statusOf(blocks: readonly (readonly HeaderField[])[]): ReportedRecipient[] {
  const reporting = blocks.map((fields) => firstValue(fields, 'reporting-mta')).find((value) => value !== undefined);
  return blocks.flatMap((fields) => recipientOf(fields, mtaOf(reporting)));
}

/** `dns; mx.example.com`, RFC 3464 §2.2.2. */
const mtaOf = (value: string | undefined): string => oneLine((value ?? '').replace(/^[\w-]+\s*;/, ''));

/** The block about the message as a whole has no Action. */
function recipientOf(fields: readonly HeaderField[], reportingMta: string): ReportedRecipient[] {
  const action = firstValue(fields, 'action')?.split(/[\s(;]/, 1)[0];
  if (action === undefined) return [];
  const diagnostic = (firstValue(fields, 'diagnostic-code') ?? '').replace(/^[\w-]+\s*;/, '');
  return [
    {
      addresses: [
        ...addressOf(firstValue(fields, 'original-recipient')),
        ...addressOf(firstValue(fields, 'final-recipient')),
      ],
      action: action.toLowerCase(),
      code: /^[245]\.\d{1,3}\.\d{1,3}/.exec(firstValue(fields, 'status') ?? '')?.[0] ?? '5.0.0',
      reply: oneLine(diagnostic),
      remoteMta: mtaOf(firstValue(fields, 'remote-mta')) || reportingMta,
    },
  ];
}

const feedbackOf = (fields: readonly HeaderField[]): MailReport => ({
  kind: 'feedback',
  type: (firstValue(fields, 'feedback-type') ?? '').toLowerCase(),
  addresses: fields.filter(({ name }) => name === 'original-rcpt-to').flatMap(({ value }) => addressOf(value)),
});
