import { useNavigate } from '@tanstack/react-router';
import { BookOpen, Keyboard, LogOut, UserRound } from 'lucide-react';
import { useState } from 'react';
import { useSignedIn, useSignOut } from '../api/session.ts';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../components/frame/menu.tsx';
import { chooseTheme, chosenTheme, isTheme, THEMES } from './theme.ts';

const THEME_TITLES = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;

/** The signed-in person, with the pages about their account. */
export function AccountMenu({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const { user } = useSignedIn();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Menu
      label={`Account of ${user.name}`}
      side="top"
      trigger={
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
      triggerClass="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 hover:bg-sunken max-sm:h-11 max-sm:w-11 max-sm:justify-center"
    >
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
