import { Dialog } from '../components/frame/dialog.tsx';

const KEYS = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K or ⌘ K', 'Search pages, mailboxes and actions'],
      ['?', 'Show these keys'],
      ['Esc', 'Close what is open'],
    ],
  },
  {
    title: 'Approvals',
    keys: [
      ['j, k', 'Next and previous message'],
      ['f', 'Filter and search'],
      ['a', 'Approve'],
      ['e', 'Edit, then approve'],
      ['d', 'Deny'],
      ['r', 'Send back with a comment'],
      ['s', 'Several of one agent together; x chooses'],
    ],
  },
] as const;

/** The keys that do something, for people who like to use them. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      {KEYS.map(({ title, keys }) => (
        <section key={title}>
          <h3 className="mb-1 text-xs text-muted">{title}</h3>
          <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
            {keys.map(([key, meaning]) => (
              <div key={key} className="contents">
                <dt>
                  <kbd className="rounded border border-line-strong bg-sunken px-1.5 font-mono text-[13px]">{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
