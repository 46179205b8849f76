/**
 * The credential of a link in a notice. It stands in the fragment of the address, which browsers send nowhere; it is
 * taken out of the address at once, so that it is in no history and no screenshot, and kept for this tab only.
 */
const KEY = 'agent-mailbox.approval-link';

/** As the service makes them; a shorter one lost its end on the way. */
const FORM = /^aml_[A-Za-z0-9_-]{43}[0-9a-z]{6}$/;

export const isWholeToken = (token: string): boolean => FORM.test(token);

/** @returns the token of the address, else the one this tab was opened with; null: there is none */
export function takeLinkToken(): string | null {
  const token = location.hash.slice(1);
  if (token === '') return sessionStorage.getItem(KEY);
  sessionStorage.setItem(KEY, token);
  history.replaceState(history.state, '', location.pathname);
  return token;
}
