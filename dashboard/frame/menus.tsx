/** The menus of the frame, with what they need: the first script has only their buttons (`menu-buttons.tsx`). */
import { Menu as Base } from '@base-ui/react/menu';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { BookOpen, Check, Keyboard, LogOut, UserRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { chooseOrganization } from '../api/client.ts';
import { useSignedIn, useSignOut } from '../api/session.ts';
import type { OpenMenu } from './menu-buttons.tsx';
import { chooseTheme, chosenTheme, isTheme, THEMES } from './theme.ts';

const THEME_TITLES = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

/** The pages about the account of the signed-in person. */
export function AccountMenu({ onShowKeys, ...menu }: { readonly onShowKeys: () => void } & OpenMenu) {
  const { user } = useSignedIn();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Menu {...menu} side="top">
      <div className="max-w-72 px-2 py-1.5">
        <div className="truncate font-medium">{user.name}</div>
        <div className="truncate text-muted">{user.email}</div>
      </div>
      <MenuLine />
      <MenuItem onClick={() => void navigate({ to: '/settings/account' })}>
        <UserRound size={16} aria-hidden /> My account and sessions
      </MenuItem>
      <MenuItem onClick={onShowKeys}>
        <Keyboard size={16} aria-hidden /> Keyboard shortcuts
      </MenuItem>
      <MenuItem onClick={() => location.assign('/docs')}>
        <BookOpen size={16} aria-hidden /> API reference
      </MenuItem>
      <MenuLine />
      <MenuChoice
        title="Theme"
        value={theme}
        options={THEMES.map((value) => ({ value, title: THEME_TITLES[value] }))}
        onChange={(next) => {
          if (!isTheme(next)) return;
          chooseTheme(next);
          setTheme(next);
        }}
      />
      <MenuLine />
      <MenuItem onClick={() => signOut.mutate(undefined, { onSettled: () => void navigate({ to: '/sign-in' }) })}>
        <LogOut size={16} aria-hidden /> Sign out
      </MenuItem>
    </Menu>
  );
}

/** Chooses the organization that the pages show. */
export function OrganizationMenu(menu: OpenMenu) {
  const { organization, organizations } = useSignedIn();
  const queries = useQueryClient();
  const router = useRouter();
  const choose = async (id: string): Promise<void> => {
    chooseOrganization(id);
    // What is open belongs to the organization before, so its page would be of nothing.
    await router.navigate({ to: '/' });
    await queries.resetQueries();
  };
  return (
    <Menu {...menu}>
      <MenuChoice
        title="Organization"
        value={organization?.id}
        options={organizations.map(({ id, name: title }) => ({ value: id, title }))}
        onChange={(id) => void choose(id)}
      />
    </Menu>
  );
}

const ITEM =
  'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-text! no-underline outline-none data-[highlighted]:bg-sunken max-sm:min-h-11';

/** Actions behind a button. */
function Menu({
  button,
  isOpen,
  onOpen,
  children,
  side = 'bottom',
}: OpenMenu & { readonly children: ReactNode; readonly side?: 'bottom' | 'top' }) {
  return (
    <Base.Root open={isOpen} onOpenChange={onOpen}>
      <Base.Portal>
        <Base.Positioner anchor={button} align="start" side={side} sideOffset={4} className="z-20">
          <Base.Popup
            finalFocus={button}
            className="max-h-[80vh] max-w-[calc(100vw-16px)] min-w-52 overflow-y-auto rounded-lg border border-line bg-panel p-1 outline-none"
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function MenuItem({ onClick, children }: { readonly onClick: () => void; readonly children: ReactNode }) {
  return (
    <Base.Item onClick={onClick} className={ITEM}>
      {children}
    </Base.Item>
  );
}

const MenuLine = () => <Base.Separator className="my-1 h-px bg-line" />;

/** A choice of one within a menu. */
function MenuChoice({
  title,
  value,
  options,
  onChange,
}: {
  readonly title: string;
  readonly value: string | undefined;
  readonly options: readonly { readonly value: string; readonly title: string }[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={(next: string) => onChange(next)} aria-label={title}>
      <Base.Group>
        <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs text-faint">{title}</Base.GroupLabel>
        {options.map((option) => (
          <Base.RadioItem key={option.value} value={option.value} closeOnClick className={ITEM}>
            <span className="w-4">
              <Base.RadioItemIndicator>
                <Check size={16} aria-hidden />
              </Base.RadioItemIndicator>
            </span>
            <span className="min-w-0 truncate">{option.title}</span>
          </Base.RadioItem>
        ))}
      </Base.Group>
    </Base.RadioGroup>
  );
}
