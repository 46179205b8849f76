import { visibleText } from '../../../components/mail/unseen-characters.ts';

/** Addresses that could carry something away. As text: nobody should follow them. */
export function OpaqueLinks({ links }: { readonly links: readonly string[] }) {
  return (
    <section aria-label="Links that could carry data" className="grid gap-1 rounded-md bg-wait-soft px-3 py-2">
      <h3 className="font-normal">Links or pictures whose addresses could carry data away</h3>
      <ul className="grid gap-1">
        {links.map((link) => (
          <li key={link} className="min-w-0 border-l-2 border-wait pl-3 font-mono text-[13px] break-all">
            {visibleText(link)}
          </li>
        ))}
      </ul>
    </section>
  );
}
