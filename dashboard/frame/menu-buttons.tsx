/** The buttons of the frame behind which there are menus. A menu is loaded when a person is about to open it. */
import { ChevronsUpDown } from 'lucide-react';
import { lazy, type ReactNode, type RefObject, Suspense, useRef, useState } from 'react';
import { useSignedIn } from '../api/session.ts';

const load = () => import('./menus.tsx');
const AccountMenu = lazy(async () => ({ default: (await load()).AccountMenu }));
const OrganizationMenu = lazy(async () => ({ default: (await load()).OrganizationMenu }));

/** What a menu gets of its button. */
export interface OpenMenu {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}

function MenuButton({
  label,
  shown,
  className,
  menu,
}: {
  /** Name of the button for people who do not see it. */
  readonly label: string;
  /** What is seen of the button; hidden from readers, who get the label. */
  readonly shown: ReactNode;
  readonly className: string;
  readonly menu: (of: OpenMenu) => ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  /** Undefined: it was never open. */
  const [isOpen, onOpen] = useState<boolean>();
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen === true}
        className={className}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onClick={() => onOpen(true)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          onOpen(true);
        }}
      >
        <span className="sr-only">{label}</span>
        {shown}
      </button>
      {isOpen === undefined ? null : <Suspense>{menu({ button, isOpen, onOpen })}</Suspense>}
    </>
  );
}

/** The signed-in person, with the pages about their account. */
export function AccountButton({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const { user } = useSignedIn();
  return (
    <MenuButton
      label={`Account of ${user.name}`}
      shown={
        <>
          <span
            aria-hidden
            className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
          >
            {[...user.name][0]?.toUpperCase()}
          </span>
          <span aria-hidden className="min-w-0 flex-1 truncate text-left max-sm:hidden">
            {user.name}
          </span>
        </>
      }
      className="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 hover:bg-sunken max-sm:h-11 max-sm:w-11 max-sm:justify-center"
      menu={(of) => <AccountMenu {...of} onShowKeys={onShowKeys} />}
    />
  );
}

/** The name of the organization; a button if there is another to choose. */
export function OrganizationButton() {
  const { organization, organizations } = useSignedIn();
  const name = organization?.name ?? 'No organization';
  if (organizations.length < 2)
    return (
      <div className="min-w-0 truncate px-2 py-1.5 font-semibold" title={name}>
        {name}
      </div>
    );
  return (
    <MenuButton
      label={`Organization: ${name}`}
      shown={
        <>
          <span aria-hidden className="min-w-0 flex-1 truncate text-left">
            {name}
          </span>
          <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-muted" />
        </>
      }
      className="flex h-8 w-full min-w-0 items-center gap-2 rounded-md px-2 font-semibold hover:bg-sunken max-sm:h-11"
      menu={(of) => <OrganizationMenu {...of} />}
    />
  );
}
