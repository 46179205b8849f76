/** `mailbox.token_rotated` as words. */
export const actionWords = (action: string): string => action.replace('.', ': ').replaceAll('_', ' ');
