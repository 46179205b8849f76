/** Which organizations' first steps the person has put away, in this browser. */
const KEY = 'agent-mailbox.first-run-dismissed';

const dismissed = (): string[] => (localStorage.getItem(KEY) ?? '').split(' ').filter((id) => id !== '');

export const isDismissed = (organizationId: string): boolean => dismissed().includes(organizationId);

export const dismiss = (organizationId: string): void =>
  localStorage.setItem(KEY, [...new Set([...dismissed(), organizationId])].join(' '));
