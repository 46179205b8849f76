import { useState } from 'react';
import { keepWork, readWork } from '../../../api/unfinished-work.ts';
import type { Draft } from './draft.ts';

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
