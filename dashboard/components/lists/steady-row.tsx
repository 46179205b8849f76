import type { ReactNode } from 'react';

/** A row of a steady list; one that has left the list keeps its place and cannot be used. */
export function SteadyRow({
  gone,
  className = '',
  children,
}: {
  readonly gone: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <div inert={gone} className={`${gone ? 'line-through opacity-50' : ''} ${className}`}>
      {children}
    </div>
  );
}
