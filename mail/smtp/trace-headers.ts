/** Header fields that an accepting server adds on top of a message (RFC 5321 §4.4, RFC 8601 §5). */

import { findBodyStart, type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { mailDate } from '#domain/mail/text-forms.ts';

export interface TraceFacts {
  readonly hostname: string;
  readonly envelopeFrom: string;
  readonly helo: string;
  readonly remoteAddress: string;
  /** `ESMTP`, `ESMTPS`, `UTF8SMTPS`, … (RFC 3848, RFC 6531). */
  readonly protocol: string;
  readonly connectionId: string;
  readonly receivedAt: Date;
  /** Whole Authentication-Results field, with its line break. */
  readonly authenticationResults: string;
}

const addressLiteral = (address: string): string => (address.includes(':') ? `[IPv6:${address}]` : `[${address}]`);

/** The fields on top, as bytes. Received contains no recipient, so that one blob serves them all. */
export function traceHeaders(facts: TraceFacts): Buffer {
  const helo = /^[\w.:[\]-]{1,255}$/.test(facts.helo) ? facts.helo : addressLiteral(facts.remoteAddress);
  return Buffer.from(
    `Return-Path: <${facts.envelopeFrom}>\r\n` +
      `Received: from ${helo} (${addressLiteral(facts.remoteAddress)})\r\n` +
      ` by ${facts.hostname} with ${facts.protocol} id ${facts.connectionId};\r\n` +
      ` ${mailDate(facts.receivedAt)}\r\n${facts.authenticationResults}`,
  );
}

/** The header fields of a message as it was received. */
export const receivedFields = (received: Uint8Array): HeaderField[] =>
  headerFields(received, 0, findBodyStart(received, 0, received.length));

export const countReceived = (fields: readonly HeaderField[]): number =>
  fields.filter(({ name }) => name === 'received').length;

/**
 * The message without Authentication-Results fields that claim to be ours (RFC 8601 §5): readers would believe them.
 * Nothing else is touched.
 */
export function withoutForgedResults(received: Buffer, fields: readonly HeaderField[], hostname: string): Buffer {
  return withoutFields(
    received,
    fields.filter(({ name, value }) => name === 'authentication-results' && claims(value, hostname)),
  );
}

/** The message without some of its fields. */
export function withoutFields(received: Buffer, fields: readonly HeaderField[]): Buffer {
  if (fields.length === 0) return received;
  const kept: Buffer[] = [];
  let at = 0;
  for (const { start, end } of fields.toSorted((a, b) => a.start - b.start)) {
    kept.push(received.subarray(at, start));
    at = end;
  }
  kept.push(received.subarray(at));
  return Buffer.concat(kept);
}

/** The authserv-id is first, possibly after comments or in quotes, possibly with a version. */
function claims(value: string, hostname: string): boolean {
  const id = value.replace(/^(\s|\([^()]{0,200}\))+/, '').replace(/^"([^"]*)"/, '$1');
  const name = /^[^\s;(]*/.exec(id)?.[0] ?? '';
  return name.toLowerCase() === hostname.toLowerCase();
}
