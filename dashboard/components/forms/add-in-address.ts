import { useLocation, useNavigate } from '@tanstack/react-router';

/**
 * Whether the form of a page for a new row is open. The address has it as `#add`, so that a link, the palette and
 * the back button reach it.
 */
export function useAddInAddress(): readonly [boolean, (open: boolean) => void] {
  const open = useLocation({ select: ({ hash }) => hash === 'add' });
  const navigate = useNavigate();
  return [
    open,
    (next) => void navigate({ to: '.', search: true, replace: !next, ...(next ? { hash: 'add' } : { hash: '' }) }),
  ];
}
