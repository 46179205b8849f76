import { useState } from 'react';

/**
 * The credential of a link, from behind the `#` of the address, where no server and no log sees it. It is taken out of
 * the address, so that it stays neither in the history nor in a screenshot; a reload of the page needs the link again.
 *
 * @returns undefined when there is none
 */
export function useLinkToken(): string | undefined {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  // Not in an effect: nothing that runs after the page is shown may find it in the address.
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return token === '' ? undefined : token;
}
