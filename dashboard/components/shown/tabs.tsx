import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly label: string;
  /** Id of the tab that is shown, where the page's address says it. Omitted: the tabs keep it in their state. */
  readonly shown?: string;
  readonly onShow?: (id: string) => void;
}

/** One of several views of the same thing. */
export function Tabs({ tabs, label, shown, onShow }: TabsProps) {
  const chosen = shown === undefined ? { defaultValue: tabs[0]?.id } : { value: shown };
  return (
    <Base.Root {...chosen} onValueChange={(id) => onShow?.(String(id))} className="min-w-0">
      <Base.List aria-label={label} className="flex gap-4 overflow-x-auto border-b border-line">
        {tabs.map(({ id, title }) => (
          <Base.Tab
            key={id}
            value={id}
            className="h-9 border-b-2 border-transparent whitespace-nowrap text-muted data-[active]:border-text data-[active]:font-medium data-[active]:text-text max-sm:h-11"
          >
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className="pt-3">
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
