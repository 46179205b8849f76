import { useState } from 'react';
import { keepWork, readWork } from '../../../api/session.ts';
import type { ConsentMessage, MessageEdit } from '../queries.ts';
import type { FieldChange } from '../request/outcome.tsx';

/** A message as the form shows it: one address a line. */
export interface Draft {
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  /** Null: the message has no plain text. */
  readonly text: string | null;
  /** Null: the message has no HTML. */
  readonly html: string | null;
}

export const draftOf = ({ to, cc, bcc, subject, text, html }: ConsentMessage): Draft => ({
  to: to.join('\n'),
  cc: cc.join('\n'),
  bcc: bcc.join('\n'),
  subject,
  // Forms know one line break; the service writes the other one.
  text: text === null && html !== null ? null : (text ?? '').replaceAll('\r\n', '\n'),
  html: html === null ? null : html.replaceAll('\r\n', '\n'),
});

const ADDRESS_FIELDS = ['to', 'cc', 'bcc'] as const;

/** Addresses of a field. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');

/** Bare addresses of everybody who would get the message. */
export const recipientsOf = (draft: Draft): string[] => [
  ...new Set(
    ADDRESS_FIELDS.flatMap((field) => linesOf(draft[field])).map((each) =>
      (/<([^<>]+)>\s*$/.exec(each)?.[1] ?? each).toLowerCase(),
    ),
  ),
];

/** What differs from the message: for the request, and for the eye. */
export function editOf(
  message: ConsentMessage,
  draft: Draft,
): { readonly edit: MessageEdit; readonly changes: readonly FieldChange[] } {
  const before = draftOf(message);
  const changed = (field: keyof Draft) => (before[field] ?? '') !== (draft[field] ?? '');
  const content = changed('text') || changed('html');
  const edit: MessageEdit = {
    ...(changed('subject') ? { subject: draft.subject } : {}),
    // Text and HTML say the same: the service takes a change of one only with the other.
    ...(content && draft.text !== null ? { text: draft.text } : {}),
    ...(content && draft.html !== null ? { html: draft.html.trim() === '' ? null : draft.html } : {}),
    ...Object.fromEntries(
      ADDRESS_FIELDS.filter((field) => linesOf(before[field]).join('\n') !== linesOf(draft[field]).join('\n')).map(
        (field) => [field, linesOf(draft[field])],
      ),
    ),
  };
  const fields = ['to', 'cc', 'bcc', 'subject', 'text', 'html'] as const;
  return {
    edit,
    changes: fields
      .filter((field) => field in edit && changed(field))
      .map((field) => ({ field, before: before[field] ?? '', after: draft[field] ?? '' })),
  };
}

/** What a person has begun about a request and not sent. */
export interface Unfinished {
  /** An edit, and the message that it was begun for. */
  readonly edit?: { readonly draft: Draft; readonly sha256: string; readonly reviewing: boolean } | undefined;
  /** Reason of a denial. */
  readonly reason?: string | undefined;
}

const nameOf = (consentId: string): string => `request.${consentId}`;

/** The request is decided. */
export const finishRequest = (consentId: string): void => keepWork(nameOf(consentId), undefined);

/** The unfinished work about a request, and how to change it: undefined finishes a part. */
export function useUnfinished(consentId: string): readonly [Unfinished, (change: Unfinished) => void] {
  // Of this tab and written by this page alone.
  const [work, setWork] = useState(() => (readWork(nameOf(consentId)) ?? {}) as Unfinished);
  const change = (part: Unfinished) => {
    const next = { ...work, ...part };
    setWork(next);
    const isEmpty = next.edit === undefined && (next.reason ?? '') === '';
    keepWork(nameOf(consentId), isEmpty ? undefined : next);
  };
  return [work, change];
}
