import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
import { chooseOrganization } from '../api/organization.ts';
import { useSignedIn } from '../api/session.ts';
import { Menu, MenuChoice } from '../components/frame/menu.tsx';

/** Chooses the organization that the pages show; if there is only one, shows its name. */
export function OrganizationSwitch() {
  const { organization, organizations } = useSignedIn();
  const queries = useQueryClient();
  const router = useRouter();
  const name = organization?.name ?? 'No organization';
  if (organizations.length < 2)
    return (
      <div className="min-w-0 truncate px-2 py-1.5 font-semibold" title={name}>
        {name}
      </div>
    );
  const choose = async (id: string): Promise<void> => {
    chooseOrganization(id);
    // What is open belongs to the organization before, so its page would be of nothing.
    await router.navigate({ to: '/' });
    await queries.resetQueries();
  };
  return (
    <Menu
      label={`Organization: ${name}`}
      trigger={
        <>
          <span aria-hidden className="min-w-0 flex-1 truncate text-left">
            {name}
          </span>
          <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-muted" />
        </>
      }
      triggerClass="flex h-8 w-full min-w-0 items-center gap-2 rounded-md px-2 font-semibold hover:bg-sunken max-sm:h-11"
    >
      <MenuChoice
        title="Organization"
        value={organization?.id}
        options={organizations.map(({ id, name: title }) => ({ value: id, title }))}
        onChange={(id) => void choose(id)}
      />
    </Menu>
  );
}
