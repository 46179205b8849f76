import type { ReactNode } from 'react';

/** Rows that are compared by columns; on a phone they are scrolled sideways within their box. */
export function Table({
  label,
  head,
  rows,
}: {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly id: string; readonly cells: readonly ReactNode[] }[];
}) {
  return (
    <section aria-label={label} className="overflow-x-auto rounded-lg border border-line bg-panel" tabIndex={0}>
      <table className="w-full border-collapse text-left">
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col" className="px-3 py-2 text-xs font-medium whitespace-nowrap text-muted">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cells }) => (
            <tr key={id} className="border-t border-line align-top">
              {cells.map((cell, i) => (
                <td key={head[i]} className="px-3 py-2">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
