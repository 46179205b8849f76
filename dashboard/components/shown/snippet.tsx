import { Copy } from './copy.tsx';

/** Lines to be copied into a terminal or a file. */
export function Snippet({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div className="relative min-w-0 rounded-lg border border-line bg-sunken">
      <pre
        // Scrolls, so the keyboard must reach it.
        tabIndex={0}
        aria-label={what}
        className="overflow-x-auto p-3 pr-24 font-mono max-sm:pr-3 text-[13px] leading-5"
      >
        {text}
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-sunken max-sm:static max-sm:flex max-sm:justify-end max-sm:border-t max-sm:border-line">
        <Copy text={text} what={what} />
      </div>
    </div>
  );
}
