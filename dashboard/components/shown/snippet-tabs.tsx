import { Snippet } from './snippet.tsx';
import { Tabs } from './tabs.tsx';

interface SnippetTab {
  readonly kind: string;
  readonly title: string;
  /** What has to be known to use it. */
  readonly note: string;
  readonly text: string;
}

/** Texts to copy, one for each way to do the same. */
export function SnippetTabs({ label, snippets }: { readonly label: string; readonly snippets: readonly SnippetTab[] }) {
  return (
    <Tabs
      label={label}
      tabs={snippets.map(({ kind, title, note, text }) => ({
        id: kind,
        title,
        content: (
          <div className="grid gap-2">
            <p className="text-muted">{note}</p>
            <Snippet text={text} what={`${title} snippet`} />
          </div>
        ),
      }))}
    />
  );
}
