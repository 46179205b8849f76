import { useEffect, useState } from 'react';

/** From this width on the list and a request are side by side. */
const WIDE = matchMedia('(min-width: 1024px)');

function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(WIDE.matches);
  useEffect(() => {
    const onChange = () => setIsWide(WIDE.matches);
    onChange();
    WIDE.addEventListener('change', onChange);
    return () => WIDE.removeEventListener('change', onChange);
  }, []);
  return isWide;
}

/**
 * Id of the request that is shown. Where there is room beside the list, the first one is shown when none was chosen, and
 * is written into the address at once: what comes into the list later does not replace it.
 *
 * @param open that of the address
 */
export function usePinned(
  open: string | undefined,
  first: string | undefined,
  onOpen: (id: string) => void,
): string | undefined {
  const isWide = useIsWide();
  const pinned = open ?? (isWide ? first : undefined);
  useEffect(() => {
    if (open === undefined && pinned !== undefined) onOpen(pinned);
  });
  return open;
}
