/** Which organization of the person the pages show; kept in the browser, so that a reload stays in it. */
const KEY = 'agent-mailbox.organization';

export const activeOrganizationId = (): string | undefined => localStorage.getItem(KEY) ?? undefined;

export const chooseOrganization = (id: string): void => localStorage.setItem(KEY, id);

export const forgetOrganization = (): void => localStorage.removeItem(KEY);
